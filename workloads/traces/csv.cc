#include "workloads/traces/csv.h"

#include <algorithm>

namespace kvbench {

std::string_view CsvReader::TakeQuotedField() {
  rest_.remove_prefix(1);
  std::string* unescaped = nullptr;
  size_t begin = 0;
  size_t at = 0;
  for (;;) {
    at = rest_.find('"', at);
    if (at == std::string_view::npos) {
      errors_.Fail(line_, "a quoted field that begins here never ends; close it with a quote");
    }
    if (at + 1 == rest_.size() || rest_[at + 1] != '"') {
      break;
    }
    // A doubled quote stands for one: from here on the field needs memory of its own.
    if (unescaped == nullptr) {
      unescaped = &unescaped_.emplace_back();
    }
    unescaped->append(rest_.substr(begin, at + 1 - begin));
    at += 2;
    begin = at;
  }
  next_line_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  std::string_view field = rest_.substr(0, at);
  if (unescaped != nullptr) {
    field = unescaped->append(rest_.substr(begin, at - begin));
  }
  rest_.remove_prefix(at + 1);
  return field;
}

bool CsvReader::Next() {
  while (!rest_.empty() && (rest_[0] == '\n' || rest_.starts_with("\r\n"))) {
    rest_.remove_prefix(rest_[0] == '\n' ? 1 : 2);
    ++next_line_;
  }
  fields_.clear();
  unescaped_.clear();
  line_ = next_line_;
  if (rest_.empty()) {
    return false;
  }
  for (;;) {
    if (!rest_.empty() && rest_[0] == '"') {
      fields_.push_back(TakeQuotedField());
      if (!rest_.empty() && rest_[0] != ',' && rest_[0] != '\n' && !rest_.starts_with("\r\n")) {
        errors_.Fail(line_, "text follows a closing quote; quotes inside a field are doubled");
      }
    } else {
      const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
      std::string_view field = rest_.substr(0, end);
      const bool last_of_line = end == rest_.size() || rest_[end] == '\n';
      if (last_of_line && field.ends_with('\r')) {
        field.remove_suffix(1);
      }
      fields_.push_back(field);
      rest_.remove_prefix(end);
    }
    if (rest_.empty()) {
      ended_with_newline_ = false;
      return true;
    }
    if (rest_[0] == ',') {
      rest_.remove_prefix(1);
      continue;
    }
    rest_.remove_prefix(rest_[0] == '\n' ? 1 : 2);
    ++next_line_;
    ended_with_newline_ = true;
    return true;
  }
}

}  // namespace kvbench
