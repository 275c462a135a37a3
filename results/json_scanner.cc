#include "results/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// A place in a text that moves over its parts. Its methods leave it at the end of the text where
/// something is missing.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) {
      ++at_;
    }
  }
  /// Behind space; moves over it if it is `c`.
  bool Take(char c) {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  /// A string without its quotes. Precondition: the opening quote is taken.
  std::string_view StringBody() {
    const size_t begin = at_;
    SkipString();
    return at_ > begin ? text_.substr(begin, at_ - begin - 1) : std::string_view();
  }
  /// A whole value with the space before it left out; empty where there is none.
  std::string_view Value() {
    SkipSpace();
    const size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        SkipString();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) {
          break;  // the end of what holds the value
        }
        --depth;
        ++at_;
        if (depth == 0) {
          break;
        }
      } else if (depth == 0 && c == ',') {
        break;
      } else {
        ++at_;
      }
    }
    if (depth > 0) {
      at_ = text_.size();
      return {};
    }
    size_t end = at_;
    while (end > begin && IsSpace(text_[end - 1])) {
      --end;
    }
    return text_.substr(begin, end - begin);
  }

 private:
  /// Behind the closing quote.
  void SkipString() {
    while (at_ < text_.size() && text_[at_] != '"') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// What separates members and elements: 1 a comma, 0 the closing bracket, -1 something else.
int Separator(Cursor& cursor, char close) {
  return cursor.Take(',') ? 1 : cursor.Take(close) ? 0 : -1;
}

bool NothingFollows(Cursor& cursor) {
  cursor.SkipSpace();
  return cursor.at_end();
}

/// Keeps where and why the parser stopped, and nothing of what it read.
class ErrorKeeper : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(size_t /*elements*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    what_ = error.what();
    return false;
  }

  size_t position() const { return position_; }
  const std::string& what() const { return what_; }

 private:
  size_t position_ = 0;
  std::string what_;
};

}  // namespace

bool ForEachMember(std::string_view text,
                   const std::function<bool(std::string_view, std::string_view)>& on_member) {
  Cursor cursor(text);
  if (!cursor.Take('{')) {
    return false;
  }
  if (cursor.Take('}')) {
    return NothingFollows(cursor);
  }
  for (;;) {
    if (!cursor.Take('"')) {
      return false;
    }
    const std::string_view key = cursor.StringBody();
    if (!cursor.Take(':')) {
      return false;
    }
    const std::string_view value = cursor.Value();
    if (value.empty() || !on_member(key, value)) {
      return false;
    }
    if (const int separator = Separator(cursor, '}'); separator != 1) {
      return separator == 0 && NothingFollows(cursor);
    }
  }
}

bool ForEachElement(std::string_view text,
                    const std::function<bool(std::string_view)>& on_element) {
  Cursor cursor(text);
  if (!cursor.Take('[')) {
    return false;
  }
  if (cursor.Take(']')) {
    return NothingFollows(cursor);
  }
  for (;;) {
    const std::string_view value = cursor.Value();
    if (value.empty() || !on_element(value)) {
      return false;
    }
    if (const int separator = Separator(cursor, ']'); separator != 1) {
      return separator == 0 && NothingFollows(cursor);
    }
  }
}

std::string WhyNotJson(std::string_view text) {
  ErrorKeeper keeper;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &keeper)) {
    return "";
  }
  if (text.find_first_not_of(" \n\t\r") == std::string_view::npos) {
    return "the file is empty";
  }
  const size_t stop = std::min(keeper.position(), text.size());
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(stop), '\n');
  if (keeper.position() > text.size()) {
    return fmt::format("the JSON ends too early, in line {}: was the file cut off?", line);
  }
  // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing
  // value - invalid literal; last read: '{ x'"
  const std::string& what = keeper.what();
  const size_t dash = what.find(" - ");
  const size_t semicolon = what.find(';', dash == std::string::npos ? 0 : dash);
  const std::string reason =
      dash == std::string::npos ? "" : ": " + what.substr(dash + 3, semicolon - dash - 3);
  return fmt::format("this is no JSON in line {}{}", line, reason);
}

}  // namespace kvbench
