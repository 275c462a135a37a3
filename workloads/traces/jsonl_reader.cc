#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/quoting.h"
#include "workloads/traces/trace_formats.h"

namespace kvbench {
namespace {

/// Receives the parts of one line's JSON object as they are parsed: numbers come as their text,
/// nesting needs no memory, and keys that mean nothing to us are passed over.
class RequestHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// What is wrong with the line; empty: nothing.
  const std::string& problem() const { return problem_; }
  /// Whether that is the JSON text itself, as opposed to what it says.
  bool is_syntax_problem() const { return is_syntax_problem_; }

  std::optional<std::string> timestamp, input_length, output_length;
  std::vector<int64_t> hash_ids;

  bool null() override { return OtherValue("null"); }
  bool boolean(bool value) override { return OtherValue(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return InHashIds() ? AddHashId(value) : Number(std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!InHashIds()) {
      return Number(std::to_string(value));
    }
    return value > static_cast<uint64_t>(INT64_MAX) ? BadHashId(std::to_string(value))
                                                    : AddHashId(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return InHashIds() ? BadHashId(text) : Number(text);
  }
  bool string(string_t& value) override { return OtherValue(Quoted(value)); }
  bool binary(binary_t&) override { return OtherValue("binary data"); }

  bool start_object(size_t) override { return Open(/*is_array=*/false); }
  bool start_array(size_t) override { return Open(/*is_array=*/true); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (depth_ == 1) {
      key_ = name == "timestamp"       ? Key::kTimestamp
             : name == "input_length"  ? Key::kInputLength
             : name == "output_length" ? Key::kOutputLength
             : name == "hash_ids"      ? Key::kHashIds
                                       : Key::kOther;
      if (key_ != Key::kOther && std::exchange(seen_[static_cast<int>(key_)], true)) {
        return Problem(fmt::format("{} is there twice; once is right", name));
      }
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    constexpr int kNumberOverflow = 406;
    is_syntax_problem_ = true;
    return Problem(
        error.id == kNumberOverflow
            ? fmt::format("a number that ends at byte {} is too large", position)
            : fmt::format("it is no JSON object: something is wrong at byte {}", position));
  }

 private:
  enum class Key { kTimestamp, kInputLength, kOutputLength, kHashIds, kOther };

  /// Inside the array of "hash_ids", not deeper.
  bool InHashIds() const { return depth_ == 2 && key_ == Key::kHashIds; }
  /// Where a value belongs to a key of the request itself that we know.
  bool AtKnownKey() const { return depth_ == 1 && key_ != Key::kOther; }

  bool Problem(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool Number(std::string text) {
    if (depth_ == 0) {
      return Problem("it is a number; a request is a JSON object in braces");
    }
    if (AtKnownKey()) {
      if (key_ == Key::kHashIds) {
        return Problem("hash_ids is a number; it is a list of whole numbers");
      }
      (key_ == Key::kTimestamp     ? timestamp
       : key_ == Key::kInputLength ? input_length
                                   : output_length) = std::move(text);
    }
    return true;
  }

  bool AddHashId(int64_t id) {
    hash_ids.push_back(id);
    return true;
  }

  bool BadHashId(std::string_view shown) {
    return Problem(fmt::format("hash_ids holds {}; the ids are whole numbers of at most 63 bits",
                               shown.size() > 40 ? "something else" : shown));
  }

  bool OtherValue(const std::string& shown) {
    if (InHashIds()) {
      return BadHashId(shown);
    }
    if (depth_ == 0) {
      return Problem("it is a single value; a request is a JSON object in braces");
    }
    if (AtKnownKey()) {
      return Problem(fmt::format("{} is {}; {}", KeyName(), shown, KeyExpectation()));
    }
    return true;
  }

  bool Open(bool is_array) {
    if (depth_ == 0 && is_array) {
      return Problem("it is a list; a request is a JSON object in braces, one a line");
    }
    if (InHashIds()) {
      return BadHashId("a list or an object");
    }
    if (AtKnownKey() && !(key_ == Key::kHashIds && is_array)) {
      return Problem(fmt::format("{} is {}; {}", KeyName(), is_array ? "a list" : "an object",
                                 KeyExpectation()));
    }
    ++depth_;
    return true;
  }

  bool Close() {
    --depth_;
    return true;
  }

  std::string_view KeyName() const {
    constexpr std::string_view kNames[] = {"timestamp", "input_length", "output_length",
                                           "hash_ids"};
    return kNames[static_cast<int>(key_)];
  }

  std::string_view KeyExpectation() const {
    return key_ == Key::kHashIds ? "it is a list of whole numbers" : "it is a number";
  }

  std::string problem_;
  bool is_syntax_problem_ = false;
  int64_t depth_ = 0;
  Key key_ = Key::kOther;
  bool seen_[4] = {};
};

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

void ReadLine(std::string_view line, int64_t number, bool cut_off, TraceBuilder& builder,
              std::optional<bool>& has_timestamps) {
  RequestHandler request;
  if (!nlohmann::json::sax_parse(line.begin(), line.end(), &request)) {
    builder.Fail(number, request.problem() + (cut_off && request.is_syntax_problem()
                                                  ? "; the file seems to be cut off here"
                                                  : ""));
  }
  for (const auto& [name, value] : {std::pair("input_length", &request.input_length),
                                    {"output_length", &request.output_length}}) {
    if (!*value) {
      builder.Fail(number, fmt::format("{} is missing; a request has timestamp, input_length and "
                                       "output_length",
                                       name));
    }
  }
  const bool has_timestamp = request.timestamp.has_value();
  if (has_timestamp != has_timestamps.value_or(has_timestamp)) {
    builder.Fail(number, fmt::format("the request has {} timestamp, unlike those before it; all "
                                     "requests have one or none",
                                     has_timestamp ? "a" : "no"));
  }
  has_timestamps = has_timestamp;
  if (has_timestamp) {
    constexpr int kMillisecondDecimals = 6;
    builder.SetTime(number, builder.Time(number, "timestamp", *request.timestamp,
                                         kMillisecondDecimals, ExtraDecimals::kRefuse));
  }
  const int64_t prompt = builder.Length(number, "input_length", *request.input_length);
  const int64_t output = builder.Length(number, "output_length", *request.output_length);
  builder.Add(prompt, output, std::move(request.hash_ids));
}

bool ReadJsonLines(std::string_view text, std::string_view columns, TraceBuilder& builder) {
  if (!columns.empty() || text[text.find_first_not_of(" \t\r\n")] != '{') {
    return false;
  }
  std::optional<bool> has_timestamps;
  int64_t number = 0;
  while (!text.empty() && !builder.full()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool cut_off = end == text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (!IsBlank(line)) {
      ReadLine(line, number, cut_off, builder, has_timestamps);
    }
  }
  builder.set_has_arrivals(has_timestamps.value_or(true));
  return true;
}

std::vector<TraceFormat> JsonLinesFormats() {
  return {{"JSON lines (timestamp in ms, input_length, output_length)",
           "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, "
           "\"hash_ids\": [0, 1, 2]}\n"
           "{\"timestamp\": 0.5, \"input_length\": 7322, \"output_length\": 490, "
           "\"hash_ids\": [0, 14]}\n"}};
}

}  // namespace

const TraceReader kJsonLinesReader = {ReadJsonLines, JsonLinesFormats};

}  // namespace kvbench
