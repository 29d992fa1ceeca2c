// SPDX-License-Identifier: Apache-2.0
// The head of a safetensors file, which PyTorch, JAX and Hugging Face's programs read too:
//
//   8 bytes      the length of the JSON, little-endian
//   JSON         {"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//   data         of all tensors, little-endian, row-major, without holes, to the end of the file
//
// Ours are filled up with blanks so that the data begins at a whole page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "popdist/tensor.hpp"

namespace popdist::train {

inline constexpr std::size_t kFilePageBytes = 4096;
/// The longest JSON that libraries of safetensors read.
inline constexpr std::size_t kMostHeaderBytes = 100'000'000;

/// All before the data of `tensors`, which lie there in this order. kInvalidArgument: two have the same name,
/// or one has the name "__metadata__"; kResourceExhausted: longer than kMostHeaderBytes.
pop::Result<std::string> safetensorsHeader(const Spec& tensors);

struct StoredTensor {
  TensorSpec spec;
  std::uint64_t begin = 0;  ///< first of its bytes, in the file
};

/// The length of the head, which says its own in the first 8 bytes. kDataLoss: `beginning` is shorter, the
/// length is above kMostHeaderBytes, or reaches over the end of the file.
pop::Result<std::size_t> safetensorsHeaderBytes(std::string_view beginning, std::uint64_t file_bytes);

/// Tensors of a file of `file_bytes` whose head is `header`, in the order of their bytes, which fill the file
/// from its head to its end. kDataLoss says which rule is broken.
pop::Result<std::vector<StoredTensor>> parseSafetensors(std::string_view header, std::uint64_t file_bytes);

}  // namespace popdist::train
