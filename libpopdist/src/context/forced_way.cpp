// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/forced_way.h"

#include <cstdlib>
#include <string_view>

#include "common/base/text.h"

namespace popdist::context {
namespace {

constexpr const char* kVariable = "POPDIST_SHARED_ALGORITHM";
constexpr const char* kMessages = "messages";

}  // namespace

std::string ForcedWay::inTag() const {
  const std::string before = std::string(", ") + kVariable + '=';
  if (messages) return before + kMessages;
  return in_memory ? before + plan::nameOf(*in_memory) : "";
}

pop::Result<ForcedWay> forcedByEnvironment() {
  const char* const name = std::getenv(kVariable);
  if (name == nullptr || *name == '\0') return ForcedWay{};
  if (name == std::string_view(kMessages)) return ForcedWay{.messages = true};
  const std::optional<plan::SharedAlgorithm> algorithm = plan::sharedAlgorithmNamed(name);
  if (!algorithm) {
    return pop::invalidArgument(std::string(kVariable) + '=' + pop::inQuotes(name) +
                                " is none of eager, staged, direct, pull, messages");
  }
  return ForcedWay{.in_memory = algorithm};
}

}  // namespace popdist::context
