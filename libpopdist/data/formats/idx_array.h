// SPDX-License-Identifier: Apache-2.0
// The IDX format: two zero bytes, the element type, the number of dimensions, each dimension's size (32 bits,
// big-endian), then the elements, row-major. Files come from anywhere: nothing in a header is believed before
// the bytes are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/formats/byte_source.h"

namespace popdist::io {

struct IdxArray {
  std::vector<std::size_t> dims;     ///< outermost first, none of them 0
  std::vector<std::uint8_t> values;  ///< as many as the product of dims
};

/// Reads `source` to its end. Allocates at most twice what `source` really holds, plus 64 KiB.
pop::Result<IdxArray> readIdxArray(ByteSource& source);

}  // namespace popdist::io
