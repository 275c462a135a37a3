#include "results/json/json_value.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace kvbench {
namespace {

constexpr size_t kShownCharacters = 40;
constexpr double kWholeBelow = 9'007'199'254'740'992.0;  // 2^53

const nlohmann::json kNull;

/// What a value is, for a sentence: "null", "a list", "the number 1.5", "the text 'x'".
std::string Described(const nlohmann::json& json) {
  switch (json.type()) {
    case nlohmann::json::value_t::null:
      return "null or missing";
    case nlohmann::json::value_t::object:
      return "an object";
    case nlohmann::json::value_t::array:
      return "a list";
    case nlohmann::json::value_t::string:
      return fmt::format("the text '{}'", PrintableAscii(json.get_ref<const std::string&>().substr(
                                              0, kShownCharacters)));
    default:
      return DumpJson(json);
  }
}

}  // namespace

JsonValue JsonValue::At(std::string_view key) const {
  ExpectObject();
  const auto member = json_->find(key);
  return {member == json_->end() ? kNull : *member, this, key, 0};
}

JsonValue JsonValue::At(size_t index) const { return {(*json_)[index], this, {}, index}; }

size_t JsonValue::size() const {
  if (!json_->is_array()) {
    Fail("a list");
  }
  return json_->size();
}

void JsonValue::ExpectObject() const {
  if (!json_->is_object()) {
    Fail("an object");
  }
}

std::string JsonValue::String() const {
  if (!json_->is_string()) {
    Fail("text");
  }
  return json_->get<std::string>();
}

int64_t JsonValue::Integer() const {
  if (json_->is_number_unsigned() && json_->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)) {
    return json_->get<int64_t>();
  }
  if (json_->is_number_integer() && !json_->is_number_unsigned()) {
    return json_->get<int64_t>();
  }
  // Tools that rewrite JSON may make 5 to 5.0.
  if (json_->is_number_float()) {
    const double number = json_->get<double>();
    if (std::abs(number) < kWholeBelow && number == std::floor(number)) {
      return static_cast<int64_t>(number);
    }
  }
  Fail("a whole number");
}

double JsonValue::Number() const {
  if (!json_->is_number()) {
    Fail("a number");
  }
  return json_->get<double>();
}

bool JsonValue::Bool() const {
  if (!json_->is_boolean()) {
    Fail("true or false");
  }
  return json_->get<bool>();
}

std::string JsonValue::Path() const {
  if (parent_ == nullptr) {
    return std::string(key_);
  }
  const std::string above = parent_->Path();
  if (key_.empty()) {
    return fmt::format("{}[{}]", above, index_);
  }
  return above.empty() ? std::string(key_) : fmt::format("{}.{}", above, key_);
}

void JsonValue::Fail(std::string_view expected) const {
  const std::string path = Path();
  throw Error(fmt::format("{} is {}; {} is needed there", path.empty() ? "the top" : path,
                          Described(*json_), expected));
}

}  // namespace kvbench
