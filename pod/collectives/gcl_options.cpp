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
std::optional<bool> truthOf(const JsonValue& value) {
  if (value.boolean() != nullptr) return *value.boolean();
  if (value.text() == nullptr) return std::nullopt;
  if (*value.text() == "true") return true;
  if (*value.text() == "false") return false;
  return std::nullopt;
}

Status take(const JsonValue::Member& member, GclOptions& options) {
  const auto& [name, value] = member;
  if (name == kMethod) {
    const std::string* const method = value.text();
    if (method == nullptr || !isMethod(*method))
      return inOptions("method is " + (method == nullptr ? "no text" : inQuotes(*method)) + ", expected " +
                       std::string(kMethodNames));
    options.method = *method;
    return {};
  }
  if (name == kOptimisedLayout) {
    const std::optional<bool> truth = truthOf(value);
    if (!truth) return inOptions(name + " is neither true nor false");
    options.use_optimised_layout = *truth;
    return {};
  }
  if (std::ranges::find(kNotModelled, name) != std::end(kNotModelled)) return {};
  return inOptions("there is no option " + inQuotes(name) + ": method and " + std::string(kOptimisedLayout) +
                   " are what the emulated Pod knows");
}

}  // namespace

bool isMethod(std::string_view name) {
  const std::optional<RingMethod> ring = ringMethodNamed(name);
  return name == kAutomatic || name == kQuickest || (ring && *ring != RingMethod::kDirect);
}

Result<GclOptions> parseGclOptions(std::string_view json) {
  GclOptions options;
  if (json.empty()) return options;
  Result<JsonValue> value = parseJson(json);
  if (!value.ok()) return inOptions(value.status().message());
  if (value->object() == nullptr) return inOptions("expected a JSON object, such as {\"method\": \"auto\"}");
  for (const JsonValue::Member& member : *value->object()) POP_RETURN_IF_ERROR(take(member, options));
  return options;
}

}  // namespace pop::pod
