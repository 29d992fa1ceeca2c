// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/forced_way.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/base/text.h"

namespace popdist::context {
namespace {

constexpr const char* kShared = "POPDIST_SHARED_ALGORITHM";
constexpr const char* kMessages = "messages";
constexpr const char* kByMessages = "POPDIST_MESSAGE_ALGORITHM";

// nullptr: it does not say anything.
const char* valueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

pop::Status unknown(const char* variable, const char* value, const std::string& choices) {
  return pop::invalidArgument(std::string(variable) + '=' + pop::inQuotes(value) + " is none of " + choices);
}

pop::Status readShared(ForcedWay& way) {
  const char* const name = valueOf(kShared);
  if (name == nullptr) return {};
  way.messages = name == std::string_view(kMessages);
  if (way.messages) return {};
  way.in_memory = plan::sharedAlgorithmNamed(name);
  return way.in_memory ? pop::Status() : unknown(kShared, name, "eager, staged, direct, pull, messages");
}

// Of the operations only all-reduce has several.
pop::Status readByMessages(ForcedWay& way) {
  const char* const name = valueOf(kByMessages);
  if (name == nullptr) return {};
  std::vector<std::string> choices;
  for (const plan::Algorithm algorithm : plan::algorithmsOf(plan::Operation::kAllReduce)) {
    choices.emplace_back(plan::nameOf(algorithm));
    if (choices.back() == name) way.by_messages = algorithm;
  }
  return way.by_messages ? pop::Status() : unknown(kByMessages, name, pop::join(choices, ", "));
}

}  // namespace

std::string ForcedWay::inTag() const {
  std::string tag;
  const auto add = [&tag](const char* variable, const char* value) {
    tag += std::string(", ") + variable + '=' + value;
  };
  if (messages) add(kShared, kMessages);
  if (in_memory) add(kShared, plan::nameOf(*in_memory));
  if (by_messages) add(kByMessages, plan::nameOf(*by_messages));
  return tag;
}

pop::Result<ForcedWay> forcedByEnvironment() {
  ForcedWay way;
  POP_RETURN_IF_ERROR(readShared(way));
  POP_RETURN_IF_ERROR(readByMessages(way));
  return way;
}

}  // namespace popdist::context
