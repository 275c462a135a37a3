#include "results/report/chart.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

const char* KindName(ChartPanel::Kind kind) {
  switch (kind) {
    case ChartPanel::Kind::kBars:
      return "bars";
    case ChartPanel::Kind::kStackedBars:
      return "stacked-bars";
    case ChartPanel::Kind::kStackedAreas:
      return "stacked-areas";
    case ChartPanel::Kind::kIntervals:
      return "intervals";
    case ChartPanel::Kind::kCurves:
      break;
  }
  return "curves";
}

Json SeriesJson(const ChartSeries& series) {
  Json json = {{"name", series.name}, {"role", series.role}};
  json["values"] = Json::array();
  for (const std::optional<double>& value : series.values) {
    json["values"].push_back(value && std::isfinite(*value) ? Json(*value) : Json(nullptr));
  }
  json["points"] = Json::array();
  for (const auto& [x, y] : series.points) {
    if (std::isfinite(x) && std::isfinite(y)) {
      json["points"].push_back(Json::array({x, y}));
    }
  }
  json["ranges"] = Json::array();
  for (const auto& range : series.ranges) {
    json["ranges"].push_back(range ? Json::array({range->first, range->second}) : Json(nullptr));
  }
  return json;
}

Json PanelJson(const ChartPanel& panel) {
  Json json = {{"kind", KindName(panel.kind)},
               {"x", panel.x},
               {"y", panel.y},
               {"log_y", panel.log_y},
               {"y_max", panel.y_max ? Json(*panel.y_max) : Json(nullptr)},
               {"categories", panel.categories},
               {"guides", panel.guides}};
  json["series"] = Json::array();
  for (const ChartSeries& series : panel.series) {
    json["series"].push_back(SeriesJson(series));
  }
  return json;
}

}  // namespace

Json ChartJson(const ReportChart& chart) {
  Json json = {{"title", chart.title}};
  json["panels"] = Json::array();
  for (const ChartPanel& panel : chart.panels) {
    json["panels"].push_back(PanelJson(panel));
  }
  return json;
}

}  // namespace kvbench
