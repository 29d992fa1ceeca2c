// SPDX-License-Identifier: Apache-2.0
// Rules for names, types and shapes of tensors.
#pragma once

#include <cstddef>

#include "common/base/status.h"
#include "popdist/tensor.hpp"

namespace popdist::tensor {

/// Limit for one element, batch or result. More would be an error somewhere: rows of addresses are kept on
/// the stack.
inline constexpr std::size_t kMostTensors = 64;

/// Every tensor has a name, the names differ, and its bytes can be counted. kInvalidArgument names the
/// tensor.
pop::Status checkSpec(const Spec& spec);

/// checkSpec, and there is at least one tensor, at most kMostTensors, none without elements: `whose` needs
/// sizes that are known and not 0.
pop::Status checkElementSpec(const Spec& spec, const std::string& whose);

/// Bytes of all tensors.
std::size_t bytesOf(const Spec& spec);

}  // namespace popdist::tensor
