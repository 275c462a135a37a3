#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/json/json_value.h"

namespace kvbench {

class Description;
struct RunRecord;

enum class FieldType : uint8_t {
  kText,
  kWhole,   ///< int64_t
  kNumber,  ///< double: null where it is NaN or infinite
  kRate,    ///< a number, or "inf" for infinity
  kBool,
  kObject,  ///< a struct with a Describe()
  kList,    ///< std::vector
};

/// How values of one C++ type stand in JSON; codec.h makes them.
struct Codec {
  FieldType type = FieldType::kText;
  bool nullable = false;  ///< std::optional: null where it is empty
  size_t size = 0;
  size_t alignment = 1;
  void (*write)(const void* value, nlohmann::ordered_json& json) = nullptr;
  void (*read)(const JsonValue& json, void* value) = nullptr;
  /// The value itself; of an std::optional what is in it, or null.
  const void* (*get)(const void* value) = nullptr;
  const Description& (*object)() = nullptr;  ///< of an object
  const Codec& (*element)() = nullptr;       ///< of a list
};

/// What values a field, or each element of a list, may have beyond its type.
enum class Range : uint8_t {
  kAny,       ///< any text; numbers from 0 on
  kNotEmpty,  ///< of text
  kPositive,  ///< of whole numbers
  kKnown,     ///< a number that is never NaN
  kShare,     ///< 0 to 1, never NaN
  kPercent,   ///< 0 to 100, never NaN
};

/// When a field must be equal in two runs of the same label.
enum class Compared : uint8_t {
  kAsAbove,   ///< like the object that it is in; at the top kExact
  kAlways,    ///< always: what was asked for, and what became of each request
  kExact,     ///< unless requests arrive by the clock: a count
  kTiming,    ///< in modelled runs; of measured ones it is a metric that is compared as a time
  kMeasured,  ///< in modelled runs: rests on times or on the machine, and is no metric
  kNever,     ///< never: how runs are joined, words for the reader, what is the invocation's
};

/// The executors that fill a field; null or empty for the others.
enum class FilledBy : uint8_t { kAll, kMeasured, kModelled };

/// How tables show a field: under what name and unit. "%" shows a share as 100 times itself.
struct ColumnHeading {
  const char* name = nullptr;  ///< null: no table shows it
  const char* unit = "";
  int decimals = 0;
  const char* top = "";     ///< the same in two lines of the terminal's table, where there is
  const char* bottom = "";  ///< little room: "KV" above "waste %"
};

/// What is said of a field beside its unit and meaning.
struct FieldOptions {
  Range range = Range::kAny;
  Compared compared = Compared::kAsAbove;
  FilledBy filled_by = FilledBy::kAll;
  /// Minor schema version that brought it, 0: there from the start. A file without it leaves the
  /// member's default.
  int since = 0;
  const char* pattern = nullptr;                 ///< of text, a regular expression
  std::span<const std::string_view> words = {};  ///< all that text may be
  size_t most = 0;                               ///< elements of a list, 0: any number
  bool flat = false;  ///< an object whose members stand beside the other fields, null without it
  bool streamed = false;  ///< a long list: Description::Read leaves it to who calls
  ColumnHeading heading = {};
};

/// A member of a struct, as everything that reads, writes, compares or shows it knows it.
struct Field {
  std::string key;
  const Codec* codec = nullptr;
  const void* (*at)(const void* object) = nullptr;  ///< the member in its struct
  std::string unit;
  std::string meaning;
  FieldOptions options;
  std::string heading_unit = options.heading.unit;

  /// The object in it, or that its list is of; null for anything else.
  const Description* object() const;
};

/// One or more fields, as a description lists them.
struct Fields : std::vector<Field> {
  Fields(Field field) { push_back(std::move(field)); }  // NOLINT(*-explicit-*)
  using std::vector<Field>::vector;
};

/// The fields of one struct of record.h: all there is to know of it.
class Description {
 public:
  struct Options {
    bool all_or_null = false;      ///< the object is null where one of its fields is
    const char* schema = nullptr;  ///< more of the object's JSON Schema: {"if": ...}
    void (*check)(const JsonValue& json, const void* object) = nullptr;  ///< after it is read
  };

  Description(std::string meaning, std::initializer_list<Fields> fields, const Codec& codec,
              void (*write_default)(nlohmann::ordered_json&), const Options& options);

  const std::string& meaning() const { return meaning_; }
  const std::vector<Field>& fields() const { return fields_; }
  const Codec& codec() const { return codec_; }
  const Options& options() const { return options_; }

  /// The field of a key; null where there is none.
  const Field* Find(std::string_view key) const;
  /// The field that a path such as "kv.usage_per_step.live" begins with, and the rest of the path.
  const Field* Take(std::string_view& path) const;

  /// The object as JSON, every key in order. What is unknown is null.
  void Write(const void* object, nlohmann::ordered_json& json) const;
  /// Reads all but streamed fields. Keys that no field has are passed over. Throws Error, which
  /// names the key.
  void Read(const JsonValue& json, void* object) const;
  /// The JSON object with its keys in order, those that it lacks with the members' defaults, those
  /// that no field has behind them.
  nlohmann::ordered_json Complete(nlohmann::ordered_json json) const;
  /// The JSON Schema of the object.
  nlohmann::ordered_json Schema(bool nullable) const;

 private:
  std::string meaning_;
  std::vector<Field> fields_;
  const Codec& codec_;
  void (*write_default_)(nlohmann::ordered_json&);
  Options options_;
  std::unordered_map<std::string_view, size_t> index_;
};

/// A field of a run by its path, "while_waiting.mean_running_requests" or "timeline.live".
class RecordField {
 public:
  /// Precondition: there is such a field.
  explicit RecordField(std::string_view path);

  const std::string& path() const { return path_; }  ///< lists have brackets: "timeline[].live"
  const Field& field() const { return *fields_.back(); }
  /// Its value as tables show it, which is in percent where its heading says so; nothing where it
  /// is null, infinite or no number.
  std::optional<double> Shown(const RunRecord& run) const;

 private:
  std::string path_;
  std::vector<const Field*> fields_;
};

}  // namespace kvbench
