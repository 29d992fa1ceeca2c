// SPDX-License-Identifier: Apache-2.0
#include "popdistd/agents/waiting_line.h"

#include <algorithm>

#include "common/base/text.h"

namespace pop {

std::string waitingLine(std::vector<std::string> waiting, std::size_t num_hosts) {
  constexpr std::size_t kMostNamed = 4;
  const std::size_t all = waiting.size();
  waiting.resize(std::min(all, kMostNamed));
  return "poprun: waiting for " + std::to_string(all) + " of " +
         counted(static_cast<std::int64_t>(num_hosts), "host") + " (" + join(waiting, ", ") +
         (all > kMostNamed ? ", …)" : ")");
}

}  // namespace pop
