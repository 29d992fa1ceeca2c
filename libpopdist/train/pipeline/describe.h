// SPDX-License-Identifier: Apache-2.0
// A pipeline in lines for people.
#pragma once

#include <cstddef>
#include <string>

#include "libpopdist/train/pipeline/model.h"

namespace popdist::train {

struct StoredBytes {
  std::size_t without_recomputation = 0;
  std::size_t with_recomputation = 0;
};

std::string describe(const Model& model, const Schedule& schedule, StoredBytes stored);

}  // namespace popdist::train
