// SPDX-License-Identifier: Apache-2.0
// The head of NumPy's .npy files: the bytes 93 'NUMPY', a version, the length of a text (16 bits, 32 from
// version 2 on), then that text, a dictionary in Python's notation; the elements follow.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/base/status.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

struct NpyHeader {
  Type type = Type::kFloat;
  Shape shape;            ///< the whole array's: one dimension or more, none of them 0
  std::size_t bytes = 0;  ///< the head's: elements begin here
};

/// The header of a file that begins with `bytes`, or is all of them. `name` is the file's, for messages.
/// kInvalidArgument: not of this format, or of an order or type that cannot be read, which it names;
/// kDataLoss: the head is cut.
pop::Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string& name);

}  // namespace popdist::io
