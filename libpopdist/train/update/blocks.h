// SPDX-License-Identifier: Apache-2.0
// The blocks of a model, and how members of a group divide them.
#pragma once

#include <cstddef>
#include <vector>

#include "popdist/optimizer.hpp"

namespace popdist::train {

struct BlockPlace {
  std::size_t parameter = 0;
  std::size_t first = 0;  ///< element of the parameter
  std::size_t count = 0;
};

/// All blocks of all parameters, in order: fixed parts of the model, for every split of the updates.
std::vector<BlockPlace> blocksOf(const Spec& parameters);

struct BlockRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Blocks of member `index` of `members`: consecutive ones, their numbers as equal as they can be.
BlockRange shareOf(std::size_t blocks, int members, int index);

}  // namespace popdist::train
