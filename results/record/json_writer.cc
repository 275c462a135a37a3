#include "results/record/json_writer.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "results/json/json_layout.h"
#include "results/record/field.h"

namespace kvbench {

using Json = nlohmann::ordered_json;

void WriteResults(const ResultsFile& file, std::ostream& out) {
  out << "{\n  \"schema_version\": \"" << ResultsFile::kSchemaVersion << "\"";
  for (const Field& field : ResultsFile::Describe().fields()) {
    out << ",\n  \"" << field.key << "\": ";
    if (!field.options.streamed) {
      Json value;
      field.codec->write(field.at(&file), value);
      WriteJson(value, 2, out);
      continue;
    }
    const char* separator = "[\n    ";
    for (const RunRecord& run : file.runs) {
      out << separator;
      WriteJson(RunJson(run), 4, out);
      separator = ",\n    ";
    }
    out << (file.runs.empty() ? "[]" : "\n  ]");
  }
  out << "\n}\n";
}

Json RunJson(const RunRecord& run) {
  Json json;
  RunRecord::Describe().Write(&run, json);
  return json;
}

Json ModelJson(const ModelInfo& model) {
  Json json;
  ModelInfo::Describe().Write(&model, json);
  return json;
}

std::string ResultsJson(const ResultsFile& file) {
  std::ostringstream out;
  WriteResults(file, out);
  return std::move(out).str();
}

}  // namespace kvbench
