// SPDX-License-Identifier: Apache-2.0
// Elements that the host makes up in place of a dataset's.
#pragma once

#include <memory>

#include "libpopdist/src/io/dataset/node.h"
#include "popdist/data_options.hpp"

namespace popdist::io {

/// Of the same tensors, and as many.
std::shared_ptr<const Node> generatedLike(const std::shared_ptr<const Node>& node,
                                          const Initialiser& initialiser);

}  // namespace popdist::io
