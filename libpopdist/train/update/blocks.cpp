// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/update/blocks.h"

#include <algorithm>

namespace popdist::train {

std::vector<BlockPlace> blocksOf(const Spec& parameters) {
  std::vector<BlockPlace> blocks;
  for (std::size_t parameter = 0; parameter < parameters.size(); ++parameter) {
    const std::size_t elements = parameters[parameter].elements();
    for (std::size_t first = 0; first < elements; first += kBlockElements)
      blocks.push_back({parameter, first, std::min(kBlockElements, elements - first)});
  }
  return blocks;
}

BlockRange shareOf(std::size_t blocks, int members, int index) {
  const auto count = static_cast<std::size_t>(members);
  const auto at = static_cast<std::size_t>(index);
  return {blocks * at / count, blocks * (at + 1) / count};
}

}  // namespace popdist::train
