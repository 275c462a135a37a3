#include "results/record/schema.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/json/json_layout.h"
#include "results/record/field.h"
#include "results/record/record.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLineColumns = 220;

Json TypeName(const char* name, bool nullable) {
  return nullable ? Json::array({name, "null"}) : Json(name);
}

Json TextSchema(const FieldOptions& options, bool nullable) {
  if (!options.words.empty()) {
    Json words = options.words;
    if (nullable) {
      words.push_back(nullptr);
    }
    return {{"enum", std::move(words)}};
  }
  Json schema = {{"type", TypeName("string", nullable)}};
  if (options.range == Range::kNotEmpty) {
    schema["minLength"] = 1;
  }
  if (options.pattern != nullptr) {
    schema["pattern"] = options.pattern;
  }
  return schema;
}

Json NumberSchema(Range range, bool nullable) {
  Json schema = {{"type", TypeName("number", nullable || range == Range::kAny)}, {"minimum", 0}};
  if (range == Range::kShare || range == Range::kPercent) {
    schema["maximum"] = range == Range::kShare ? 1 : 100;
  }
  return schema;
}

Json ValueSchema(const Codec& codec, const FieldOptions& options, bool nullable) {
  switch (codec.type) {
    case FieldType::kText:
      return TextSchema(options, nullable);
    case FieldType::kWhole:
      return {{"type", TypeName("integer", nullable)},
              {"minimum", options.range == Range::kPositive ? 1 : 0}};
    case FieldType::kNumber:
      return NumberSchema(options.range, nullable);
    case FieldType::kRate:
      return {
          {"type", {"number", "string", "null"}}, {"exclusiveMinimum", 0}, {"pattern", "^inf$"}};
    case FieldType::kBool:
      return {{"type", TypeName("boolean", nullable)}};
    case FieldType::kObject:
      return codec.object().Schema(nullable);
    case FieldType::kList: {
      const Codec& element = codec.element();
      Json schema = {{"type", TypeName("array", nullable)},
                     {"items", ValueSchema(element, options, element.nullable)}};
      if (options.most > 0) {
        schema["maxItems"] = options.most;
      }
      return schema;
    }
  }
  return {};
}

/// @param absent the object that it stands in flat may be absent
Json FieldSchema(const Field& field, bool absent) {
  const FieldOptions& options = field.options;
  const Codec& codec = *field.codec;
  const bool null_object = codec.type == FieldType::kObject && codec.object().options().all_or_null;
  Json schema = ValueSchema(codec, options, codec.nullable || null_object || absent);
  if (!field.unit.empty()) {
    schema["unit"] = field.unit;
  }
  if (schema.contains("description") && !field.meaning.empty()) {
    schema["description"] = field.codec->object().meaning() + " (" + field.meaning + ")";
  } else if (!field.meaning.empty()) {
    schema["description"] = field.meaning;
  }
  if (options.filled_by != FilledBy::kAll) {
    schema["executors"] = options.filled_by == FilledBy::kModelled ? Json::array({"modelled"})
                                                                   : Json::array({"cpu", "cuda"});
  }
  if (options.since > 0) {
    schema["since"] = "1." + std::to_string(options.since);
  }
  return schema;
}

void AddFields(const Description& object, bool absent, Json& required, Json& properties) {
  for (const Field& field : object.fields()) {
    if (field.options.flat) {
      AddFields(*field.object(), true, required, properties);
      continue;
    }
    required.push_back(field.key);
    properties[field.key] = FieldSchema(field, absent);
  }
}

}  // namespace

Json Description::Schema(bool nullable) const {
  Json required = Json::array();
  Json properties = Json::object();
  AddFields(*this, false, required, properties);
  Json schema = {{"type", TypeName("object", nullable)},
                 {"description", meaning_},
                 {"additionalProperties", false},
                 {"required", std::move(required)},
                 {"properties", std::move(properties)}};
  if (options_.schema != nullptr) {
    schema.update(Json::parse(options_.schema));
  }
  return schema;
}

std::string ResultsSchema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "kvbench results file"}};
  schema.update(ResultsFile::Describe().Schema(false));
  schema["required"].insert(schema["required"].begin(), "schema_version");
  schema["properties"]["schema_version"] = {{"const", ResultsFile::kSchemaVersion}};
  std::ostringstream out;
  WriteJson(schema, 0, out, kLineColumns);
  out << "\n";
  return std::move(out).str();
}

}  // namespace kvbench
