#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "results/record/field.h"
#include "results/record/latency_stats.h"

// What descriptions are written with. Only they include it.

namespace kvbench {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <typename T>
const Codec& CodecOf();

/// Text, whole numbers, numbers and booleans; structs by their descriptions.
template <typename T>
struct ValueCodec {
  static constexpr FieldType kType = std::is_same_v<T, std::string> ? FieldType::kText
                                     : std::is_same_v<T, int64_t>   ? FieldType::kWhole
                                     : std::is_same_v<T, double>    ? FieldType::kNumber
                                     : std::is_same_v<T, bool>      ? FieldType::kBool
                                                                    : FieldType::kObject;

  static void Write(const void* value, nlohmann::ordered_json& json) {
    if constexpr (kType == FieldType::kObject) {
      T::Describe().Write(value, json);
    } else if constexpr (kType == FieldType::kNumber) {
      const double number = *static_cast<const double*>(value);
      json = std::isfinite(number) ? nlohmann::ordered_json(number) : nullptr;
    } else {
      json = *static_cast<const T*>(value);
    }
  }
  static void Read(const JsonValue& json, void* value) {
    if constexpr (kType == FieldType::kObject) {
      T::Describe().Read(json, value);
    } else {
      kvbench::Read(json, *static_cast<T*>(value));
    }
  }
  static const void* Get(const void* value) { return value; }
};

/// Of lists: an element is written and read as its type is; null is NaN among numbers.
template <typename List>
struct ListCodec {
  using Element = typename List::value_type;

  static void Write(const void* value, nlohmann::ordered_json& json) {
    json = nlohmann::ordered_json::array();
    for (const Element& element : *static_cast<const List*>(value)) {
      CodecOf<Element>().write(&element, json.emplace_back());
    }
  }
  static void Read(const JsonValue& json, void* value) {
    List& list = *static_cast<List*>(value);
    list.resize(json.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const JsonValue element = json.At(i);
      if constexpr (std::is_same_v<Element, double>) {
        if (element.is_null()) {
          list[i] = std::numeric_limits<double>::quiet_NaN();
          continue;
        }
      }
      CodecOf<Element>().read(element, &list[i]);
    }
  }
};

template <typename Optional>
struct OptionalCodec {
  using Value = typename Optional::value_type;

  static void Write(const void* value, nlohmann::ordered_json& json) {
    const void* inside = Get(value);
    if (inside == nullptr) {
      json = nullptr;
    } else {
      CodecOf<Value>().write(inside, json);
    }
  }
  static void Read(const JsonValue& json, void* value) {
    Optional& optional = *static_cast<Optional*>(value);
    if (json.is_null()) {
      optional.reset();
    } else {
      CodecOf<Value>().read(json, &optional.emplace());
    }
  }
  static const void* Get(const void* value) {
    const Optional& optional = *static_cast<const Optional*>(value);
    return optional ? &*optional : nullptr;
  }
};

template <typename T>
const Codec& CodecOf() {
  static const Codec codec = [] {
    Codec made;
    if constexpr (kIsOptional<T>) {
      made = CodecOf<typename T::value_type>();
      made.nullable = true;
      made.write = &OptionalCodec<T>::Write;
      made.read = &OptionalCodec<T>::Read;
      made.get = &OptionalCodec<T>::Get;
    } else if constexpr (kIsList<T>) {
      made.type = FieldType::kList;
      made.element = &CodecOf<typename T::value_type>;
      made.write = &ListCodec<T>::Write;
      made.read = &ListCodec<T>::Read;
      made.get = &ValueCodec<int64_t>::Get;
    } else {
      made.type = ValueCodec<T>::kType;
      made.write = &ValueCodec<T>::Write;
      made.read = &ValueCodec<T>::Read;
      made.get = &ValueCodec<T>::Get;
      if constexpr (ValueCodec<T>::kType == FieldType::kObject) {
        made.object = &T::Describe;
      }
    }
    made.size = sizeof(T);
    made.alignment = alignof(T);
    return made;
  }();
  return codec;
}

/// "block_size" of &DesignInfo::block_size.
template <auto Member>
std::string MemberName() {
  // "... [with auto Member = &kvbench::DesignInfo::block_size; std::string = ...]"
  std::string name = __PRETTY_FUNCTION__;
  name = name.substr(name.find("Member = ") + 9);
  name = name.substr(0, name.find_first_of(";]"));
  name = name.substr(name.rfind(':') + 1);
  return name.substr(0, name.find(')'));
}

template <typename T, typename Owner>
T MemberType(T Owner::*);
template <typename T, typename Owner>
Owner OwnerType(T Owner::*);

/// The field of a member; its key is the member's name, its type the member's.
/// @param unit empty where it has none
/// @param meaning a sentence or less, for the schema and the tables
template <auto Member>
Field F(std::string unit, std::string meaning, const FieldOptions& options = {}) {
  using Owner = decltype(OwnerType(Member));
  return {MemberName<Member>(),
          &CodecOf<decltype(MemberType(Member))>(),
          [](const void* object) -> const void* {
            return &(static_cast<const Owner*>(object)->*Member);
          },
          std::move(unit),
          std::move(meaning),
          options};
}

/// The statistics of a latency, flat in the run: mean_ttft_ms, p99_ttft_ms and so on.
/// @param meaning goes on from the statistic's name: "time to first token"
/// @param heading with the unit left out: it is the statistic's name and ms
template <auto Member>
Fields LatencyFields(const std::string& meaning, const ColumnHeading& heading) {
  using Owner = decltype(OwnerType(Member));
  const auto field = [&]<size_t I>() {
    const std::string statistic(kLatencyStatistics[I].name);
    Field made = {
        statistic + "_" + MemberName<Member>() + "_ms",
        &CodecOf<std::optional<double>>(),
        [](const void* object) -> const void* {
          return &(static_cast<const Owner*>(object)->*Member).values[I];
        },
        "ms",
        statistic + " " + meaning,
        {.compared = Compared::kTiming, .since = kLatencyStatistics[I].since, .heading = heading}};
    made.heading_unit = statistic + " ms";
    return made;
  };
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return Fields({field.template operator()<I>()...});
  }
  (std::make_index_sequence<kLatencyStatistics.size()>());
}

/// The description of a struct: what its Describe() returns a static one of.
template <typename T>
Description DescriptionOf(std::string meaning, std::initializer_list<Fields> fields,
                          const Description::Options& options = {}) {
  return {std::move(meaning), fields, CodecOf<T>(),
          [](nlohmann::ordered_json& json) {
            const T object;
            T::Describe().Write(&object, json);
          },
          options};
}

}  // namespace kvbench
