// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmi/process_mapping.h"

#include <cstddef>

namespace pop::agent {

std::string processMapping(std::span<const int> counts) {
  std::string text = "(vector";
  for (std::size_t first = 0; first < counts.size();) {
    std::size_t end = first + 1;
    while (end < counts.size() && counts[end] == counts[first]) ++end;
    text += ",(" + std::to_string(first) + ',' + std::to_string(end - first) + ',' +
            std::to_string(counts[first]) + ')';
    first = end;
  }
  return text + ')';
}

}  // namespace pop::agent
