#include "results/record/timeline_reader.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace kvbench {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {"time_s",   "running",      "waiting",  "live",
                                                   "reserved", "overestimate", "rounding", "free"};
constexpr unsigned kAll = (1U << kKeys.size()) - 1;

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
    if (key_ > 0) {
      return Bad("no whole number");
    }
    if (key_ == 0) {
      Have(0);
      points_.back().time_s = value;
    }
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
    if (have_ != kAll) {
      return Bad("without all of its numbers");
    }
    return true;
  }
  bool key(string_t& value) override {
    key_ = -1;
    for (size_t i = 0; i < kKeys.size(); ++i) {
      if (kKeys[i] == value) {
        key_ = static_cast<int>(i);
      }
    }
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
    throw Error(key_ < 0 ? fmt::format("{} is {}; an object of {} numbers is needed there", point,
                                       what, kKeys.size())
                         : fmt::format("{}.{} is {}; a number is needed there", point,
                                       kKeys[static_cast<size_t>(key_)], what));
  }

  void Have(int key) { have_ |= 1U << static_cast<unsigned>(key); }

  bool Take(int64_t value) {
    if (!in_point_) {
      return Bad("a number");
    }
    if (key_ < 0) {
      return true;
    }
    Have(key_);
    TimelinePoint& point = points_.back();
    if (key_ == 0) {
      point.time_s = static_cast<double>(value);
      return true;
    }
    constexpr std::array kMembers = {&TimelinePoint::running,      &TimelinePoint::waiting,
                                     &TimelinePoint::live,         &TimelinePoint::reserved,
                                     &TimelinePoint::overestimate, &TimelinePoint::rounding,
                                     &TimelinePoint::free};
    point.*kMembers[static_cast<size_t>(key_ - 1)] = value;
    return true;
  }

  const std::string& name_;
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
