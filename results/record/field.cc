#include "results/record/field.h"

#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "results/record/record.h"

namespace kvbench {

using Json = nlohmann::ordered_json;

const Description* Field::object() const {
  const Codec* value = codec->element != nullptr ? &codec->element() : codec;
  return value->object != nullptr ? &value->object() : nullptr;
}

Description::Description(std::string meaning, std::initializer_list<Fields> fields,
                         const Codec& codec, void (*write_default)(Json&), const Options& options)
    : meaning_(std::move(meaning)),
      codec_(codec),
      write_default_(write_default),
      options_(options) {
  for (const Fields& some : fields) {
    fields_.insert(fields_.end(), some.begin(), some.end());
  }
  for (size_t i = 0; i < fields_.size(); ++i) {
    index_.emplace(fields_[i].key, i);
  }
}

const Field* Description::Find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &fields_[found->second];
}

const Field* Description::Take(std::string_view& path) const {
  // A key may have a dot of its own: p99.9_ttft_ms.
  for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    if (const Field* field = Find(path.substr(0, dot))) {
      path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
      return field;
    }
    if (dot == std::string_view::npos) {
      return nullptr;
    }
  }
}

void Description::Write(const void* object, Json& json) const {
  json = Json::object();
  for (const Field& field : fields_) {
    if (!field.options.flat) {
      field.codec->write(field.at(object), json[field.key]);
      continue;
    }
    Json members;
    field.codec->write(field.at(object), members);
    for (const Field& member : field.object()->fields()) {
      json[member.key] = members.is_null() ? Json() : std::move(members[member.key]);
    }
  }
  if (options_.all_or_null) {
    for (const Json& member : json) {
      if (member.is_null()) {
        json = nullptr;
        return;
      }
    }
  }
}

void Description::Read(const JsonValue& json, void* object) const {
  json.ExpectObject();
  for (const Field& field : fields_) {
    if (field.options.streamed) {
      continue;
    }
    void* member = const_cast<void*>(field.at(object));
    if (field.options.flat) {
      if (!json.At(field.object()->fields().front().key).is_null()) {
        field.codec->read(json, member);
      }
      continue;
    }
    const JsonValue value = json.At(field.key);
    if (field.options.since == 0 || !value.is_null()) {
      field.codec->read(value, member);
    }
  }
  if (options_.check != nullptr) {
    options_.check(json, object);
  }
}

Json Description::Complete(Json json) const {
  Json defaults;
  write_default_(defaults);
  Json complete = Json::object();
  for (auto& [key, otherwise] : defaults.items()) {
    const auto found = json.find(key);
    const Field* field = Find(key);
    if (found == json.end()) {
      complete[key] = std::move(otherwise);
    } else if (found->is_object() && field != nullptr && field->object() != nullptr) {
      complete[key] = field->object()->Complete(std::move(*found));
    } else {
      complete[key] = std::move(*found);
    }
  }
  for (auto& [key, value] : json.items()) {
    if (!complete.contains(key)) {
      complete[key] = std::move(value);
    }
  }
  return complete;
}

RecordField::RecordField(std::string_view path) {
  const Description* object = &RunRecord::Describe();
  while (!path.empty()) {
    const Field* field = object->Take(path);
    assert(field != nullptr);
    fields_.push_back(field);
    path_ += (path_.empty() ? "" : ".") + field->key;
    path_ += field->codec->type == FieldType::kList ? "[]" : "";
    object = field->object();
  }
}

std::optional<double> RecordField::Shown(const RunRecord& run) const {
  const void* value = &run;
  for (const Field* field : fields_) {
    value = field->codec->get(field->at(value));
    if (value == nullptr) {
      return std::nullopt;
    }
  }
  const FieldType type = field().codec->type;
  if (type == FieldType::kWhole) {
    return static_cast<double>(*static_cast<const int64_t*>(value));
  }
  if (type != FieldType::kNumber && type != FieldType::kRate) {
    return std::nullopt;
  }
  const double number = *static_cast<const double*>(value);
  if (!std::isfinite(number)) {
    return std::nullopt;
  }
  return field().heading_unit == "%" ? 100 * number : number;
}

}  // namespace kvbench
