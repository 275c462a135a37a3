#include "results/record/timeline_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "results/record/field.h"

namespace kvbench {
namespace {

/// Fills points as the parser meets their members. Keys that a newer version added may hold
/// numbers, text and null, no lists and objects.
class PointHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit PointHandler(const std::string& name) : name_(name) {}

  bool null() override { return key_ < 0 || Bad("null"); }
  bool boolean(bool /*value*/) override { return key_ < 0 || Bad("true or false"); }
  bool string(string_t& /*value*/) override { return key_ < 0 || Bad("text"); }
  bool binary(binary_t& /*value*/) override { return Bad("binary"); }
  bool number_integer(number_integer_t value) override { return Take(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return Take(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    if (key_ < 0) {
      return true;
    }
    if (field().codec->type != FieldType::kNumber) {
      return Bad("no whole number");
    }
    Set(value);
    return true;
  }
  bool start_array(size_t /*elements*/) override {
    if (in_list_) {
      return Bad("a list");
    }
    in_list_ = true;
    return true;
  }
  bool end_array() override { return true; }
  bool start_object(size_t /*elements*/) override {
    if (in_point_ || !in_list_) {
      return Bad("an object");
    }
    in_point_ = true;
    have_ = 0;
    points_.emplace_back();
    return true;
  }
  bool end_object() override {
    in_point_ = false;
    key_ = -1;
    if (have_ != (1U << fields_.size()) - 1) {
      return Bad("without all of its numbers");
    }
    return true;
  }
  bool key(string_t& value) override {
    const Field* known = TimelinePoint::Describe().Find(value);
    key_ = known == nullptr ? -1 : static_cast<int>(known - fields_.data());
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  std::vector<TimelinePoint>& points() { return points_; }

 private:
  [[noreturn]] bool Bad(const char* what) const {
    const std::string point =
        fmt::format("{}[{}]", name_, points_.empty() ? 0 : points_.size() - 1);
    throw Error(
        key_ < 0 ? fmt::format("{} is {}; an object of {} numbers is needed there", point, what,
                               fields_.size())
                 : fmt::format("{}.{} is {}; a number is needed there", point, field().key, what));
  }

  const Field& field() const { return fields_[static_cast<size_t>(key_)]; }

  /// Sets the member of the key; its type is that of the value.
  template <typename T>
  void Set(T value) {
    have_ |= 1U << static_cast<unsigned>(key_);
    *static_cast<T*>(const_cast<void*>(field().at(&points_.back()))) = value;
  }

  bool Take(int64_t value) {
    if (!in_point_) {
      return Bad("a number");
    }
    if (key_ < 0) {
      return true;
    }
    if (field().codec->type == FieldType::kNumber) {
      Set(static_cast<double>(value));
    } else {
      Set(value);
    }
    return true;
  }

  const std::string& name_;
  const std::vector<Field>& fields_ = TimelinePoint::Describe().fields();  // numbers, all of them
  std::vector<TimelinePoint> points_;
  bool in_list_ = false;
  bool in_point_ = false;
  int key_ = -1;
  unsigned have_ = 0;
};

}  // namespace

std::vector<TimelinePoint> ParseTimeline(std::string_view text, const std::string& name) {
  PointHandler handler(name);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) {
    throw Error(name + " is no JSON");
  }
  return std::move(handler.points());
}

}  // namespace kvbench
