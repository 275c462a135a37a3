#include "results/json/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// Characters at which a value may begin, end or nest.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops = {};
  for (const unsigned char c : {'"', '{', '}', '[', ']', ','}) {
    stops[c] = true;
  }
  return stops;
}();

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

bool JsonScanner::Fail() {
  failed_ = true;
  at_ = text_.size();
  return false;
}

void JsonScanner::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) {
    ++at_;
  }
}

bool JsonScanner::Take(char c) {
  if (Peek() != c) {
    return false;
  }
  ++at_;
  return true;
}

char JsonScanner::Peek() {
  SkipSpace();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::AtEnd() {
  SkipSpace();
  return !failed_ && at_ == text_.size();
}

/// Behind the closing quote. Precondition: the opening one is taken.
void JsonScanner::SkipString() {
  for (;;) {
    // Mostly keys of a few letters: a loop is faster than a search.
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') {
      ++at_;
    }
    if (at_ >= text_.size()) {
      Fail();
      return;
    }
    if (text_[at_++] == '"') {
      return;
    }
    ++at_;  // what the backslash stands before
  }
}

bool JsonScanner::Enter(char bracket) {
  if (failed_ || !Take(bracket)) {
    return false;
  }
  first_.push_back(true);
  return true;
}

bool JsonScanner::Next(char close) {
  if (failed_) {
    return false;
  }
  if (Take(close)) {
    first_.pop_back();
    return false;
  }
  if (!first_.back() && !Take(',')) {
    return Fail();
  }
  first_.back() = false;
  return true;
}

bool JsonScanner::NextMember(std::string_view& key) {
  if (!Next('}')) {
    return false;
  }
  if (!Take('"')) {
    return Fail();
  }
  const size_t begin = at_;
  SkipString();
  if (failed_ || !Take(':')) {
    return Fail();
  }
  key = text_.substr(begin, text_.find_last_of('"', at_ - 1) - begin);
  return true;
}

bool JsonScanner::NextElement() { return Next(']'); }

std::string_view JsonScanner::Value() {
  SkipSpace();
  const size_t begin = at_;
  int depth = 0;
  for (;;) {
    while (at_ < text_.size() && !kStops[static_cast<unsigned char>(text_[at_])]) {
      ++at_;
    }
    if (at_ == text_.size()) {
      // A number or word may be the whole text.
      if (depth > 0 || begin == at_) {
        Fail();
        return {};
      }
      break;
    }
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      SkipString();
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at_;
    } else if (c == '}' || c == ']') {
      if (depth == 0) {
        break;  // of what holds the value
      }
      ++at_;
      if (--depth == 0) {
        break;
      }
    } else if (depth == 0) {
      break;
    } else {
      ++at_;
    }
    if (failed_) {
      return {};
    }
  }
  size_t end = at_;
  while (end > begin && IsSpace(text_[end - 1])) {
    --end;
  }
  if (end == begin) {
    Fail();
  }
  return text_.substr(begin, end - begin);
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
