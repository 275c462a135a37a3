#include "workloads/traces/spec_string.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/number_text.h"
#include "base/quoting.h"

namespace kvbench {

SpecString::SpecString(std::string_view text, std::string_view flag) : text_(text), flag_(flag) {
  const size_t first_colon = std::min(text.find(':'), text.size());
  name_ = text.substr(0, first_colon);
  std::string_view rest = text.substr(first_colon);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(part.size());
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      Fail(fmt::format("{} is no key=value", Quoted(part)));
    }
    const std::string key(part.substr(0, equals));
    for (const auto& option : options_) {
      if (option.first == key) {
        Fail(fmt::format("{} is there twice", Quoted(key)));
      }
    }
    options_.emplace_back(key, part.substr(equals + 1));
  }
}

std::optional<std::string> SpecString::Take(std::string_view key) {
  asked_.emplace_back(key);
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const auto& option) { return option.first == key; });
  if (found == options_.end()) {
    return std::nullopt;
  }
  std::string value = std::move(found->second);
  options_.erase(found);
  return value;
}

double SpecString::TakeNumber(std::string_view key, double min, double max,
                              std::optional<double> absent) {
  const std::optional<std::string> text = Take(key);
  if (!text) {
    if (!absent) {
      Fail(fmt::format("{} is missing; add :{}=NUMBER", key, key));
    }
    return *absent;
  }
  const std::optional<double> value = ParseDouble(*text);
  if (!value || *value < min || *value > max) {
    Fail(fmt::format("{}={} is not a number from {} to {}", key, Quoted(*text), min, max));
  }
  return *value;
}

int64_t SpecString::TakeInteger(std::string_view key, int64_t min, int64_t max,
                                std::optional<int64_t> absent) {
  const std::optional<std::string> text = Take(key);
  if (!text) {
    if (!absent) {
      Fail(fmt::format("{} is missing; add :{}=NUMBER", key, key));
    }
    return *absent;
  }
  const std::optional<int64_t> value = ParseInteger(*text);
  if (!value || *value < min || *value > max) {
    Fail(fmt::format("{}={} is not a whole number from {} to {}", key, Quoted(*text), min, max));
  }
  return *value;
}

void SpecString::Finish() const {
  if (options_.empty()) {
    return;
  }
  Fail(fmt::format("{} does not know {}; {}", Quoted(name_), Quoted(options_.front().first),
                   asked_.empty() ? "it takes no options"
                                  : fmt::format("it takes {}", fmt::join(asked_, ", "))));
}

void SpecString::Fail(std::string_view sentence) const {
  throw Error(fmt::format("{} {}: {}", flag_, Quoted(text_, 80), sentence));
}

}  // namespace kvbench
