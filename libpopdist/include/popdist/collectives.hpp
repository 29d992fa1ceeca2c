// SPDX-License-Identifier: Apache-2.0
// PopDist's collectives as free functions: Communicator's (communicator.hpp, where shapes, errors and costs
// are described). The last argument is
//   - the id of a registered communicator (registerCommunicator), by default that of all instances: members
//     call in the same order, one call at a time; others get kFailedPrecondition;
//   - any other text: a tag. All members of the default communicator make the call with the same tag, in any
//     order beside other tags, also from several threads; it returns when it is done (async.hpp, where names
//     and errors are described). The first such call of an instance starts a thread, which finalizeBackend
//     ends. An instance's tags are free again when their call has returned. An id that was not registered is
//     a tag, too: waiting for others that do not use it ends with kDeadlineExceeded, which names it. That is
//     the end of all calls with tags, on all members, until all instances call registerCommunicator for the
//     default one, or finalizeBackend.
// Ranks and n are those of that communicator. Everything is looked up in, and if need be made with,
// Context::fromEnvironment(), whose timeout calls have.
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
