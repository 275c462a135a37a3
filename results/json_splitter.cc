#include "results/json_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "results/bad_results.h"

namespace kvbench {
namespace {

/// Characters that matter inside a nested value: quotes and brackets.
constexpr std::array<uint8_t, 256> kStructural = [] {
  std::array<uint8_t, 256> table{};
  for (const char c : {'"', '{', '}', '[', ']'}) {
    table[static_cast<unsigned char>(c)] = 1;
  }
  return table;
}();

constexpr int kDeepest = 200;

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

/// Walks over JSON in a file that is read a piece at a time. Values are copied to a string, or
/// passed over where that is null.
class Scanner {
 public:
  explicit Scanner(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) {
      throw BadResults(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    }
    Fill();
    if (end_ - at_ >= 3 && std::memcmp(at_, "\xEF\xBB\xBF", 3) == 0) {
      at_ += 3;  // a byte order mark
    }
  }

  [[noreturn]] void Fail(const std::string& what) const {
    const int64_t line = lines_before_ + std::count(Begin(), at_, '\n') + 1;
    throw BadResults(fmt::format("{}, line {}: {}", path_, line, what));
  }

  bool AtEnd() { return at_ == end_ && !Fill(); }

  /// Only space may follow.
  void ExpectEnd() {
    for (; !AtEnd(); ++at_) {
      if (std::strchr(" \n\r\t", *at_) == nullptr) {
        Fail("something follows the end of the JSON");
      }
    }
  }

  /// The next character that is no space, which is not consumed.
  char Peek() {
    for (;;) {
      if (AtEnd()) {
        Fail("the JSON ends too early; is the file truncated?");
      }
      if (*at_ != ' ' && *at_ != '\n' && *at_ != '\t' && *at_ != '\r') {
        return *at_;
      }
      ++at_;
    }
  }

  void Expect(char c, const char* where) {
    if (Peek() != c) {
      Fail(fmt::format("this is no JSON: '{}' is missing {}", c, where));
    }
    ++at_;
  }

  /// Consumes that character if it is the next.
  bool Take(char c) {
    if (Peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  /// A string with its quotes, as it is written.
  void String(std::string* out) {
    if (Peek() != '"') {
      Fail("this is no JSON: a quoted key is missing");
    }
    const char* begin = at_++;
    for (;;) {
      if (at_ == end_) {
        Append(begin, out);
        if (!Fill()) {
          Fail("the JSON ends too early; is the file truncated?");
        }
        begin = at_;
      }
      const char c = *at_++;
      if (c == '"') {
        Append(begin, out);
        return;
      }
      if (c == '\\') {
        if (at_ == end_) {
          Append(begin, out);
          if (!Fill()) {
            continue;
          }
          begin = at_;
        }
        ++at_;
      }
    }
  }

  void Value(std::string* out) {
    const char first = Peek();
    if (first == '"') {
      String(out);
    } else if (first == '{' || first == '[') {
      Nested(out);
    } else {
      Literal(out);
    }
  }

 private:
  static constexpr size_t kBuffer = size_t{1} << 18;

  const char* Begin() const { return buffer_.get(); }

  bool Fill() {
    if (at_ != nullptr) {
      lines_before_ += std::count(Begin(), end_, '\n');
    }
    const size_t count = std::fread(buffer_.get(), 1, kBuffer, file_.get());
    if (count == 0 && std::ferror(file_.get()) != 0) {
      throw BadResults(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    }
    at_ = buffer_.get();
    end_ = at_ + count;
    return count > 0;
  }

  void Append(const char* begin, std::string* out) const {
    if (out != nullptr) {
      out->append(begin, at_);
    }
  }

  void Nested(std::string* out) {
    int depth = 0;
    const char* begin = at_;
    for (;;) {
      while (at_ != end_ && kStructural[static_cast<unsigned char>(*at_)] == 0) {
        ++at_;
      }
      if (at_ == end_) {
        Append(begin, out);
        if (!Fill()) {
          Fail("the JSON ends too early; is the file truncated?");
        }
        begin = at_;
        continue;
      }
      if (*at_ == '"') {
        Append(begin, out);
        String(out);
        begin = at_;
        continue;
      }
      const bool opens = *at_ == '{' || *at_ == '[';
      ++at_;
      depth += opens ? 1 : -1;
      if (depth > kDeepest) {
        Fail("the JSON is nested too deeply");
      }
      if (depth == 0) {
        Append(begin, out);
        return;
      }
    }
  }

  void Literal(std::string* out) {
    std::string text;
    while (!AtEnd() && std::strchr(",]} \n\r\t", *at_) == nullptr) {
      text += *at_++;
    }
    if (text.empty()) {
      Fail("this is no JSON: a value is missing");
    }
    if (out != nullptr) {
      *out += text;
    }
  }

  std::string path_;
  std::unique_ptr<FILE, CloseFile> file_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(kBuffer);
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  int64_t lines_before_ = 0;
};

bool Has(const std::vector<std::string_view>& names, std::string_view key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

std::string_view Unquoted(const std::string& quoted) {
  return std::string_view(quoted).substr(1, quoted.size() - 2);
}

void Element(Scanner& scanner, const JsonParts& parts, std::string& out) {
  out.clear();
  if (scanner.Peek() != '{') {
    scanner.Value(&out);
    return;
  }
  scanner.Expect('{', "at the start");
  out += '{';
  std::string key;
  for (bool first = true; !scanner.Take('}'); first = false) {
    if (!first) {
      scanner.Expect(',', "between two keys");
      out += ',';
    }
    key.clear();
    scanner.String(&key);
    scanner.Expect(':', "after a key");
    out += key;
    out += ':';
    const bool skip = Has(parts.skipped, Unquoted(key));
    scanner.Value(skip ? nullptr : &out);
    if (skip) {
      out += "null";
    }
  }
  out += '}';
}

}  // namespace

void SplitJsonFile(const std::string& path, const JsonParts& parts) {
  Scanner scanner(path);
  if (scanner.AtEnd()) {
    throw BadResults(fmt::format("{} is empty", path));
  }
  scanner.Expect('{', "at the start");
  std::string key;
  std::string value;
  for (bool first = true; !scanner.Take('}'); first = false) {
    if (!first) {
      scanner.Expect(',', "between two keys");
    }
    key.clear();
    scanner.String(&key);
    scanner.Expect(':', "after a key");
    const std::string_view name = Unquoted(key);
    if (!Has(parts.split, name) || scanner.Peek() != '[') {
      value.clear();
      scanner.Value(&value);
      parts.on_value(name, value);
      continue;
    }
    parts.on_value(name, "[]");
    scanner.Expect('[', "");
    for (size_t index = 0; !scanner.Take(']'); ++index) {
      if (index > 0) {
        scanner.Expect(',', "between two elements");
      }
      Element(scanner, parts, value);
      parts.on_element(name, index, value);
    }
  }
  scanner.ExpectEnd();
}

}  // namespace kvbench
