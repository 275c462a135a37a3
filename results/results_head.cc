#include "results/results_head.h"

#include <fmt/format.h>

#include "results/bad_results.h"

namespace kvbench {
namespace {

using Json = nlohmann::json;

std::string TextOr(const Json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::optional<double> NumberOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                     : std::nullopt;
}

}  // namespace

RunSitting SittingOf(const Json& machine, const Json& when) {
  RunSitting sitting;
  std::string name = TextOr(machine, "cpu_model", "an unknown CPU");
  if (const auto cores = NumberOf(machine, "cores")) {
    name += fmt::format(", {:.0f} cores", *cores);
  }
  if (const auto gpu = machine.find("gpu"); gpu != machine.end() && gpu->is_object()) {
    name += ", " + TextOr(*gpu, "name", "an unknown GPU");
  }
  const std::string day = TextOr(when, "started_at", "").substr(0, 10);
  sitting.name = name + " on " + (day.empty() ? "an unknown day" : day);
  const std::optional<double> roof = NumberOf(machine, "read_roof_bytes_per_s");
  if (roof && *roof > 0) {
    sitting.roof = RunRoof{*roof, NumberOf(machine, "read_roof_spread")};
  }
  return sitting;
}

void ResultsHead::Check(const std::string& path) const {
  for (const char* key : {"environment", "run_info"}) {
    if (!head_.contains(key) || !head_[key].is_object()) {
      throw BadResults(fmt::format("{}: {} is {}, where an object belongs", path, key,
                                   !head_.contains(key)   ? "missing"
                                   : head_[key].is_null() ? "null"
                                                          : "something else"));
    }
  }
}

std::optional<std::string> ResultsHead::suite() const {
  const Json& info = head_["run_info"];
  return info.contains("suite") && info["suite"].is_string()
             ? std::optional(info["suite"].get<std::string>())
             : std::nullopt;
}

bool ResultsHead::complete() const { return head_["run_info"].value("complete", Json()) != false; }

RunSitting ResultsHead::Sitting() const {
  return SittingOf(head_["environment"], head_["run_info"]);
}

std::string WithoutPrefix(const Json::exception& error) {
  const std::string text = error.what();
  const size_t bracket = text.find("] ");
  return bracket == std::string::npos ? text : text.substr(bracket + 2);
}

}  // namespace kvbench
