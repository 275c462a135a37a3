#include "bench/paper/row.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "base/json.h"
#include "base/statistics.h"

namespace kvbench {

namespace {

double Rounded(double value, double decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

/// How far a value lies outside [low, high]; 0 inside.
double Outside(double value, const std::optional<double>& low, const std::optional<double>& high) {
  if (low && value < *low) {
    return value - *low;
  }
  return high && value > *high ? value - *high : 0;
}

std::optional<double> End(const nlohmann::json& published, size_t index) {
  const nlohmann::json& end = published.is_array() ? published.at(index) : published;
  return end.is_null() ? std::nullopt : std::optional(end.get<double>());
}

/// A row's own value of a key, otherwise its section's.
nlohmann::json Either(const nlohmann::json& row, const nlohmann::json& section, const char* key) {
  return row.contains(key) ? row.at(key) : section.value(key, nlohmann::json());
}

Closeness ParseCloseness(const std::string& text) {
  for (const Closeness closeness :
       {Closeness::kPoints, Closeness::kPercent, Closeness::kDecimals}) {
    if (text == ClosenessName(closeness)) {
      return closeness;
    }
  }
  throw std::logic_error("results/reference/paper.json: unknown tolerance_in " + text);
}

PaperRow BuildRow(const nlohmann::json& listed, const nlohmann::json& section,
                  const PaperValues& samples) {
  PaperRow row;
  row.name = listed.at("name").get<std::string>();
  const auto found = samples.find(row.name);
  if (found == samples.end()) {
    throw std::logic_error("results/reference/paper.json: nothing measures " + row.name);
  }
  row.ours = Mean(found->second).value_or(std::nan(""));
  row.spread = PopulationStd(found->second).value_or(0);
  row.seeds = static_cast<int64_t>(found->second.size());
  const nlohmann::json unit = Either(listed, section, "unit");
  row.unit = unit.is_null() ? "" : unit.get<std::string>();
  const nlohmann::json decimals = Either(listed, section, "decimals");
  row.decimals = decimals.is_null() ? 1 : decimals.get<int>();
  if (listed.contains("published")) {
    row.published_low = End(listed.at("published"), 0);
    row.published_high = End(listed.at("published"), 1);
  }
  const nlohmann::json tolerance = Either(listed, section, "tolerance");
  if (!tolerance.is_null()) {
    row.tolerance = tolerance.get<double>();
    row.closeness = ParseCloseness(Either(listed, section, "tolerance_in").get<std::string>());
  }
  Judge(row);
  row.note = listed.value("note", std::string());
  if (row.holds && !*row.holds && row.note.empty()) {
    row.note = listed.value("why_not", std::string());
  }
  return row;
}

}  // namespace

const char* ClosenessName(Closeness closeness) {
  switch (closeness) {
    case Closeness::kPoints:
      return "points";
    case Closeness::kPercent:
      return "percent";
    case Closeness::kDecimals:
      break;
  }
  return "decimals";
}

void Judge(PaperRow& row) {
  row.deviation.reset();
  row.holds.reset();
  if (!row.published_low && !row.published_high) {
    return;
  }
  const bool one_value = row.published_low == row.published_high;
  double ours = row.ours;
  if (row.tolerance && row.closeness == Closeness::kDecimals) {
    ours = Rounded(ours, *row.tolerance);
  }
  row.deviation = Outside(ours, row.published_low, row.published_high);
  if (row.closeness == Closeness::kPercent && *row.deviation != 0) {
    const double end = *row.deviation < 0 ? *row.published_low : *row.published_high;
    row.deviation = 100 * *row.deviation / end;
  }
  if (row.tolerance) {
    const double most = row.closeness == Closeness::kDecimals
                            ? 0.5 * std::pow(10.0, -*row.tolerance)
                            : *row.tolerance;
    row.holds = std::abs(*row.deviation) <= most;
  } else if (!one_value) {
    row.holds = *row.deviation == 0;
  }
}

PaperSection BuildSection(const std::string& key, const PaperValues& samples) {
  const nlohmann::json all = ParseJson(PaperReference());
  if (!all.at("sections").contains(key)) {
    throw Error(fmt::format("there is no section {} in results/reference/paper.json", key));
  }
  const nlohmann::json& listed = all.at("sections").at(key);
  PaperSection section;
  section.key = key;
  section.title = listed.at("title").get<std::string>();
  section.reference = listed.at("reference").get<std::string>();
  section.source = listed.at("source").get<std::string>();
  section.notes = listed.value("notes", std::vector<std::string>());
  section.claims = listed.value("claims", false);
  for (const nlohmann::json& row : listed.at("rows")) {
    section.rows.push_back(BuildRow(row, listed, samples));
  }
  if (section.rows.size() != samples.size()) {
    throw std::logic_error(fmt::format("results/reference/paper.json: {} has {} rows, measured: {}",
                                       key, section.rows.size(), samples.size()));
  }
  return section;
}

}  // namespace kvbench
