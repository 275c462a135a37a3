#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// A JSON value and the way to it ("runs[3].kv"), so that whatever is wrong can be named. Points
/// into the document and to the value that it came from; both have to live on.
class JsonValue {
 public:
  explicit JsonValue(const nlohmann::json& json, std::string_view name)
      : json_(&json), key_(name) {}

  /// The member of an object. A key that is not there is null: an older minor version lacks it.
  JsonValue At(std::string_view key) const;
  /// An element of an array.
  JsonValue At(size_t index) const;

  /// Elements. Throws Error for anything but an array.
  size_t size() const;
  bool is_null() const { return json_->is_null(); }
  const nlohmann::json& json() const { return *json_; }

  // All of them throw Error for a value of another type, and for null.
  std::string String() const;
  int64_t Integer() const;
  double Number() const;
  bool Bool() const;
  /// Throws Error for anything but an object.
  void ExpectObject() const;

  /// "runs[3].kv.usage_per_step".
  std::string Path() const;
  /// Throws Error: "PATH is WHAT IT IS; EXPECTED is needed there".
  [[noreturn]] void Fail(std::string_view expected) const;

 private:
  JsonValue(const nlohmann::json& json, const JsonValue* parent, std::string_view key, size_t index)
      : json_(&json), parent_(parent), key_(key), index_(index) {}

  const nlohmann::json* json_;
  const JsonValue* parent_ = nullptr;
  std::string_view key_;  ///< empty: an element, at index_
  size_t index_ = 0;
};

inline void Read(const JsonValue& value, std::string& out) { out = value.String(); }
inline void Read(const JsonValue& value, int64_t& out) { out = value.Integer(); }
inline void Read(const JsonValue& value, double& out) { out = value.Number(); }
inline void Read(const JsonValue& value, bool& out) { out = value.Bool(); }

}  // namespace kvbench
