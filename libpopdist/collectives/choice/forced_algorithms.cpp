// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/forced_algorithms.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/base/text.h"

namespace popdist::choice {
namespace {

constexpr const char* kShared = "POPDIST_SHARED_ALGORITHM";
constexpr const char* kMessages = "messages";
constexpr const char* kByMessages = "POPDIST_MESSAGE_ALGORITHM";

// nullptr: the variable is unset or empty.
const char* valueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

pop::Status unknown(const char* variable, const char* value, const std::string& choices) {
  return pop::invalidArgument(std::string(variable) + '=' + pop::inQuotes(value) + " is not one of " +
                              choices);
}

pop::Status readShared(ForcedAlgorithms& forced) {
  const char* const name = valueOf(kShared);
  if (name == nullptr) return {};
  forced.messages = name == std::string_view(kMessages);
  if (forced.messages) return {};
  forced.in_memory = sharedAlgorithmNamed(name);
  return forced.in_memory ? pop::Status() : unknown(kShared, name, "eager, staged, direct, pull, messages");
}

// Only all-reduce has several algorithms.
pop::Status readByMessages(ForcedAlgorithms& forced) {
  const char* const name = valueOf(kByMessages);
  if (name == nullptr) return {};
  std::vector<std::string> choices;
  for (const Algorithm algorithm : algorithmsOf(plan::Operation::kAllReduce)) {
    choices.emplace_back(nameOf(algorithm));
    if (choices.back() == name) forced.by_messages = algorithm;
  }
  return forced.by_messages ? pop::Status() : unknown(kByMessages, name, pop::join(choices, ", "));
}

}  // namespace

std::string ForcedAlgorithms::inTag() const {
  std::string tag;
  const auto add = [&tag](const char* variable, const char* value) {
    tag += std::string(", ") + variable + '=' + value;
  };
  if (messages) add(kShared, kMessages);
  if (in_memory) add(kShared, nameOf(*in_memory));
  if (by_messages) add(kByMessages, nameOf(*by_messages));
  return tag;
}

pop::Result<ForcedAlgorithms> forcedByEnvironment() {
  ForcedAlgorithms forced;
  POP_RETURN_IF_ERROR(readShared(forced));
  POP_RETURN_IF_ERROR(readByMessages(forced));
  return forced;
}

}  // namespace popdist::choice
