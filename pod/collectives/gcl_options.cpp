// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/gcl_options.h"

#include <algorithm>
#include <optional>

#include "common/base/json_reader.h"
#include "common/base/text.h"
#include "pod/collectives/ring_methods.h"

namespace pop::pod {
namespace {

constexpr std::string_view kMethod = "method";
constexpr std::string_view kOptimisedLayout = "syncful.useOptimisedLayout";
// Say how code is laid out on tiles, or choose what the system says here.
constexpr std::string_view kNotModelled[] = {"link",
                                             "maxBytesPerTile",
                                             "syncful.allToAll",
                                             "syncful.maxBroadcastSize",
                                             "syncful.useForwardingToSupportStridedGroups",
                                             "topology"};

Status inOptions(const std::string& what) {
  return invalidArgument("GCL_OPTIONS: " + what);
}

// GCL takes options as text: "true" as well as true.
bool isTruth(const JsonValue& value) {
  return value.boolean() != nullptr ||
         (value.text() != nullptr && (*value.text() == "true" || *value.text() == "false"));
}

Status take(const JsonValue::Member& member, std::string& method) {
  const auto& [name, value] = member;
  if (name == kMethod) {
    const std::string* const text = value.text();
    if (text == nullptr || !isMethod(*text))
      return inOptions("method is " + (text == nullptr ? "no text" : inQuotes(*text)) + ", expected " +
                       std::string(kMethodNames));
    method = *text;
    return {};
  }
  if (name == kOptimisedLayout)
    return isTruth(value) ? Status() : inOptions(name + " is neither true nor false");
  if (std::ranges::find(kNotModelled, name) != std::end(kNotModelled)) return {};
  return inOptions("there is no option " + inQuotes(name) + ": method and " + std::string(kOptimisedLayout) +
                   " are what the emulated Pod knows");
}

}  // namespace

bool isMethod(std::string_view name) {
  const std::optional<RingMethod> ring = ringMethodNamed(name);
  return name == kAutomatic || name == kQuickest || (ring && *ring != RingMethod::kDirect);
}

Result<std::string> methodOfGclOptions(std::string_view json) {
  std::string method(kAutomatic);
  if (json.empty()) return method;
  Result<JsonValue> value = parseJson(json);
  if (!value.ok()) return inOptions(value.status().message());
  if (value->object() == nullptr) return inOptions("expected a JSON object, such as {\"method\": \"auto\"}");
  for (const JsonValue::Member& member : *value->object()) POP_RETURN_IF_ERROR(take(member, method));
  return method;
}

}  // namespace pop::pod
