// SPDX-License-Identifier: Apache-2.0
// tf.train.Example: named features, each a list of floats, of 64-bit integers, or of byte strings.
#pragma once

#include <cstddef>
#include <span>

#include "common/base/status.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// Types of tensors that features can fill: kFloat (a float_list), kInt64 (an int64_list) and kUint8 (a
/// bytes_list). kInvalidArgument names the tensor that has another type.
pop::Status checkFeatures(const Spec& features);

/// Writes each feature of `message` that has the name of a tensor. A tensor of bytes takes one string of all
/// its bytes, or as many as its first dimension, each of the rest. kDataLoss: it is no such message;
/// kInvalidArgument: a feature is missing, or of another kind or size; names it and what is there.
pop::Status readExample(std::span<const std::byte> message, TensorRefs features);

}  // namespace popdist::io
