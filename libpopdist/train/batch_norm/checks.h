// SPDX-License-Identifier: Apache-2.0
// Errors in a call of batch norm. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/status.h"
#include "popdist/batch_norm.hpp"

namespace popdist::train {

inline constexpr const char* kName = "train::BatchNorm";

/// Throws popdist_error kInvalidArgument "call: why".
[[noreturn]] void refuse(const std::string& call, const std::string& why);

/// kInvalidArgument. `replicas` are the job's.
pop::Status checkOptions(const BatchNormOptions& options, int replicas);
/// These throw it.
void checkArguments(const BatchNormForward& of, std::size_t channels, const std::string& where);
void checkArguments(const BatchNormBackward& of, std::size_t channels, const std::string& where);

}  // namespace popdist::train
