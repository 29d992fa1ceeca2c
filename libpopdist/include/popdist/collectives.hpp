// SPDX-License-Identifier: Apache-2.0
// PopDist's collectives as free functions. Shapes, errors and costs are those of the same functions of
// Communicator (communicator.hpp); so are ranks and n. They use Context::fromEnvironment(), which the first
// call makes, and its timeout.
//
// The last argument is the id of a registered communicator or a tag:
//   - An id (registerCommunicator; by default that of all instances): members call in the same order, one
//     call at a time. Instances that are not members get kFailedPrecondition.
//   - A tag is any other text: all members of the default communicator make the call with the same tag, in
//     any order beside other tags, also from several threads. The call returns when it is done. async.hpp
//     describes names and errors. The first call with a tag starts a thread, which finalizeBackend ends. A
//     tag may be used again when its call has returned.
//   - An id that was not registered is a tag, too. If the other members do not use it, the call ends with
//     kDeadlineExceeded, which names it. All later calls with tags then fail, on all members, until all
//     instances call registerCommunicator for the default communicator, or finalizeBackend.
//
// From: PopDist, header popdist/collectives.hpp. Its allReduceSum, allGather and broadcast have these
// parameters; the others are ours.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "popdist/backend.hpp"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::collectives {

void allReduceSum(void* data, std::size_t count, Type type,
                  const std::string& communicator_or_tag = defaultCommunicatorId());
void allReduce(const void* in, void* out, std::size_t count, Type type, Operator op = Operator::kSum,
               const std::string& communicator_or_tag = defaultCommunicatorId());
void reduceScatter(const void* in, void* out, std::size_t count, Type type,
                   const std::string& communicator_or_tag = defaultCommunicatorId());
void reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op,
                   const std::string& communicator_or_tag = defaultCommunicatorId());
void reduce(const void* in, void* out, std::size_t count, Type type, Operator op, unsigned root_rank,
            const std::string& communicator_or_tag = defaultCommunicatorId());
void allGather(const void* in, void* out, std::size_t count, Type type,
               const std::string& communicator_or_tag = defaultCommunicatorId());
void allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
               const std::string& communicator_or_tag = defaultCommunicatorId());
void broadcast(void* data, std::size_t count, Type type, unsigned root_rank,
               const std::string& communicator_or_tag = defaultCommunicatorId());
void gather(const void* in, void* out, std::size_t count, Type type, unsigned root_rank,
            const std::string& communicator_or_tag = defaultCommunicatorId());
void scatter(const void* in, void* out, std::size_t count, Type type, unsigned root_rank,
             const std::string& communicator_or_tag = defaultCommunicatorId());
void allToAll(const void* in, void* out, std::size_t count, Type type,
              const std::string& communicator_or_tag = defaultCommunicatorId());
void allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
              std::span<const std::size_t> recv_counts, Type type,
              const std::string& communicator_or_tag = defaultCommunicatorId());
void sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count, int from,
              Type type, const std::string& communicator_or_tag = defaultCommunicatorId());
void barrier(const std::string& communicator_or_tag = defaultCommunicatorId());

}  // namespace popdist::collectives
