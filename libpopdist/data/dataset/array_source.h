// SPDX-License-Identifier: Apache-2.0
// Elements of arrays: one for each index of their common first dimension.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"
#include "libpopdist/data/formats/file_bytes.h"

namespace popdist::io {

struct NamedArray {
  FileState file;
  std::shared_ptr<const FileBytes> mapped = nullptr;  ///< for values in a file that may change
  TensorSpec whole;                   ///< all elements: at least one dimension, none of them 0
  const std::byte* values = nullptr;  ///< row-major
  std::shared_ptr<const void> owner;  ///< owns the values
};

/// kInvalidArgument: no arrays, or first dimensions that differ.
pop::Result<std::unique_ptr<const Node>> elementsOfArrays(std::vector<NamedArray> arrays);

}  // namespace popdist::io
