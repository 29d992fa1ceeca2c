// SPDX-License-Identifier: Apache-2.0
// Whether all instances have been given the same: where they have not, their weights would part and nobody
// would hear of it.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/context.hpp"

namespace popdist::train {

/// Something that is the same on all instances, or should be.
struct Fact {
  std::string name;
  std::string text;
  std::string advice = "give all instances the same";
};
using Facts = std::vector<Fact>;

/// Collective: lists of the same names in the same order. Costs an all-reduce of 16 bytes. Throws
/// popdist_error kFailedPrecondition, on all instances, with the first fact that differs, the first two
/// instances that differ in it and what they have.
void requireSame(Context& context, const Facts& facts, const char* function);

/// Collective: `mine` is OK, or what is wrong on this instance. Throws it; where it is OK and another
/// instance's is not, popdist_error kFailedPrecondition with what is wrong there. Costs as requireSame.
void requireSound(Context& context, const pop::Status& mine, const char* function);

}  // namespace popdist::train
