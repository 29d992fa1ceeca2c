// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/cell.h"

namespace pop::bench::collectives {

std::string sizeInWords(std::size_t bytes) {
  constexpr std::size_t kUnit = 1024;
  if (bytes >= kUnit * kUnit && bytes % (kUnit * kUnit) == 0)
    return std::to_string(bytes / kUnit / kUnit) + " MiB";
  if (bytes >= kUnit && bytes % kUnit == 0) return std::to_string(bytes / kUnit) + " KiB";
  return std::to_string(bytes) + " B";
}

std::string inWords(const Cell& cell) {
  std::string text = nameOf(cell.operation);
  if (cell.type != popdist::Type::kFloat) text += std::string(" of ") + popdist::nameOf(cell.type);
  text += ", " + std::to_string(cell.ranks) + " ranks";
  if (cell.operation != Operation::kBarrier) text += ", " + sizeInWords(cell.bytes);
  return text;
}

}  // namespace pop::bench::collectives
