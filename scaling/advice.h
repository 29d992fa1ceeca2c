// SPDX-License-Identifier: Apache-2.0
// Advice, in the order of Graphcore's quick guide to scaling: memory, the host's input, accumulation, then
// the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scaling/analysis.h"

namespace pop::scaling {

enum class Topic : std::uint8_t {
  kMemory,        ///< runs ended before their first update
  kInput,         ///< replicas wait for the host's input
  kInstances,     ///< replicas of an instance wait for each other
  kAccumulation,  ///< exchanges of gradients and updates take the time
  kStart,         ///< the time before the first update
  kCheckpoints,
  kEvaluations,
  kOutside,  ///< the rest that is outside of Trainer::run
  kBatch,    ///< the batch has grown with the replicas
  kModel,    ///< the model is small for its data
  kMoreRuns,
  kFine,  ///< nothing above
};
const char* nameOf(Topic topic);

struct Advice {
  Topic topic{};
  std::string text;  ///< sentences, with the number that is the cause
};

/// In the order in which to follow it; at least one.
std::vector<Advice> adviceFor(const Analysis& analysis);

}  // namespace pop::scaling
