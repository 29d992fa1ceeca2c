// SPDX-License-Identifier: Apache-2.0
// The steps at the start of a pipeline whose elements are addressed by index.
#pragma once

#include <memory>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

/// All of `tensors` as one element.
pop::Result<std::unique_ptr<const Node>> oneElement(Tensors tensors);

/// An element for each index of the first dimension.
pop::Result<std::unique_ptr<const Node>> slicesOf(Tensors tensors);

pop::Result<std::unique_ptr<const Node>> elementsOf(std::shared_ptr<const Source> source);

}  // namespace popdist::io
