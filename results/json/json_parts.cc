#include "results/json/json_parts.h"

#include <algorithm>

#include "base/error.h"

namespace kvbench {
namespace {

void WalkList(JsonScanner& scanner, std::string_view list, const JsonWalk& walk) {
  walk.on_member(list, "[]");
  scanner.EnterArray();
  for (size_t index = 0; scanner.NextElement(); ++index) {
    walk.on_element(list, index, scanner);
    if (walk.on_progress) {
      walk.on_progress(scanner.position());
    }
  }
}

void WalkTop(JsonScanner& scanner, const JsonWalk& walk) {
  if (!scanner.EnterObject()) {
    throw NoJson();
  }
  std::string_view key;
  while (scanner.NextMember(key)) {
    const bool is_list = std::find(walk.lists.begin(), walk.lists.end(), key) != walk.lists.end();
    if (is_list && scanner.Peek() == '[') {
      WalkList(scanner, key, walk);
    } else if (const std::string_view value = scanner.Value(); !scanner.failed()) {
      walk.on_member(key, value);
    }
  }
  if (!scanner.AtEnd()) {
    throw NoJson();
  }
}

}  // namespace

void WalkJson(std::string_view text, const JsonWalk& walk) {
  try {
    JsonScanner scanner(text);
    WalkTop(scanner, walk);
  } catch (const NoJson&) {
    const std::string why = WhyNotJson(text);
    throw Error(why.empty() ? "this is JSON, but no object" : why);
  }
}

CutObject CutMembers(JsonScanner& scanner, const std::string& name,
                     const std::vector<std::string_view>& keys) {
  if (!scanner.EnterObject()) {
    if (scanner.Value().empty()) {
      throw NoJson();  // nothing, where a value belongs
    }
    throw Error(name + " is no object");
  }
  CutObject object;
  object.values.assign(keys.size(), "null");
  std::string_view key;
  while (scanner.NextMember(key)) {
    const std::string_view value = scanner.Value();
    const auto cut = std::find(keys.begin(), keys.end(), key);
    if (cut != keys.end()) {
      object.values[static_cast<size_t>(cut - keys.begin())] = value;
    } else {
      object.rest.append(object.rest.empty() ? "{\"" : ",\"");
      object.rest.append(key).append("\":").append(value);
    }
  }
  if (scanner.failed()) {
    throw NoJson();
  }
  object.rest += object.rest.empty() ? "{}" : "}";
  return object;
}

}  // namespace kvbench
