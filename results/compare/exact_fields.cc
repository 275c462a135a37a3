#include "results/compare/exact_fields.h"

#include <nlohmann/json.hpp>

#include "results/record/field.h"
#include "results/record/record.h"

namespace kvbench {
namespace {

/// What a newer minor version added is told by its name.
bool SoundsLikeATiming(std::string_view key) {
  return key.ends_with("_ms") || key.ends_with("throughput");
}

/// How the field of a path is compared. Elements of lists have the number of their place in it.
Compared ComparedAs(std::string_view path) {
  Compared compared = Compared::kExact;
  const Description* object = &RunRecord::Describe();
  while (object != nullptr && !path.empty()) {
    const Field* field = object->Take(path);
    if (field == nullptr) {
      return compared == Compared::kExact && SoundsLikeATiming(path) ? Compared::kTiming : compared;
    }
    if (field->options.compared != Compared::kAsAbove) {
      compared = field->options.compared;
    }
    object = field->object();
    if (field->codec->type == FieldType::kList) {
      const size_t dot = path.find('.');
      path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
    }
  }
  return compared;
}

}  // namespace

RunKind KindOf(const nlohmann::json& run) {
  const nlohmann::json& executor = run.at("executor");
  if (executor.at("kind") == "modelled") {
    return executor.value("hardware", nlohmann::json()) == "cpu" ? RunKind::kPredicted
                                                                 : RunKind::kModelled;
  }
  // A window in time lets in other requests each time.
  const nlohmann::json& window = run.at("window");
  const bool whole = window.value("from_s", nlohmann::json()).is_null() &&
                     window.value("to_s", nlohmann::json()).is_null();
  const bool at_once = run.at("trace").value("request_rate", nlohmann::json()) == "inf";
  return whole && at_once ? RunKind::kAllAtOnce : RunKind::kTimed;
}

bool IsTiming(std::string_view key) { return ComparedAs(key) == Compared::kTiming; }

bool MustBeEqual(RunKind kind, std::string_view path) {
  const Compared compared = ComparedAs(path);
  switch (kind) {
    case RunKind::kModelled:
      return compared != Compared::kNever;
    case RunKind::kPredicted:
    case RunKind::kAllAtOnce:
      return compared == Compared::kAlways || compared == Compared::kExact;
    case RunKind::kTimed:
      return compared == Compared::kAlways;
    case RunKind::kBenchmark:
      return false;
  }
  return false;
}

}  // namespace kvbench
