// SPDX-License-Identifier: Apache-2.0
// Steps that make other elements: map() and batch().
#pragma once

#include <cstddef>
#include <memory>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

pop::Result<std::unique_ptr<const Node>> mapped(std::unique_ptr<const Node> below, Spec element,
                                                MapFunction function);

pop::Result<std::unique_ptr<const Node>> batched(std::unique_ptr<const Node> below, std::size_t rows,
                                                 Remainder remainder);

}  // namespace popdist::io
