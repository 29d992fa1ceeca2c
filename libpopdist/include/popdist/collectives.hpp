// SPDX-License-Identifier: Apache-2.0
// PopDist's collectives as free functions: Communicator's (communicator.hpp, where shapes, errors and costs
// are described) on the communicator registered as `communicator_id`, by default the one of all instances.
// The communicator is looked up in, and if need be made with, Context::fromEnvironment().
// From: PopDist, header popdist/collectives.hpp. Its allReduceSum, allGather and broadcast have these
// parameters; reduceScatter and allToAll are ours.
#pragma once

#include <cstddef>
#include <string>

#include "popdist/backend.hpp"
#include "popdist/types.hpp"

namespace popdist::collectives {

void allReduceSum(void* data, std::size_t count, Type type,
                  const std::string& communicator_id = defaultCommunicatorId());
void allGather(const void* in, void* out, std::size_t count, Type type,
               const std::string& communicator_id = defaultCommunicatorId());
void reduceScatter(const void* in, void* out, std::size_t count, Type type,
                   const std::string& communicator_id = defaultCommunicatorId());
void broadcast(void* data, std::size_t count, Type type, unsigned root_rank,
               const std::string& communicator_id = defaultCommunicatorId());
void allToAll(const void* in, void* out, std::size_t count, Type type,
              const std::string& communicator_id = defaultCommunicatorId());

}  // namespace popdist::collectives
