// SPDX-License-Identifier: Apache-2.0
// What the members of a group tell each other before it exists, through the link: where each rank can be
// reached, and where their control block lies in the segment. Offered before the fence that makes the group,
// collected after it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libpopdist/src/context/context_state.h"
#include "libpopdist/src/transport/connections.h"

namespace popdist::group {

inline constexpr const char* kCreate = "creating a communicator";

/// Of the keys of group `number`.
std::string rendezvousPrefix(int number);

/// The fence's: the same for two instances only if they ask for the same group.
std::string rendezvousTag(int number, const std::vector<int>& instance_of_rank);

/// Where the local ranks can be reached. Also when there is no transport (`failure` says why): the others
/// must not wait for us. Throws popdist_error.
void offerAddresses(context::ContextState& context, const std::string& prefix,
                    const std::vector<int>& local_ranks, const transport::Connections* mine,
                    const pop::Status& failure);
/// Of all ranks, in order. Throws popdist_error, also with another's reason for having none, its code and who
/// it is.
std::vector<std::string> collectAddresses(context::ContextState& context, const std::string& prefix,
                                          const std::vector<int>& instance_of_rank);

/// The same for the one local rank of a group on a backend's plugin: its host's address, and what the plugin
/// offers, any bytes, or why it has nothing to offer.
void offerToBackend(context::ContextState& context, const std::string& prefix, int rank,
                    const std::string& host, const pop::Result<std::string>& offered);
struct BackendOffers {
  std::vector<std::string> host_of_rank;
  std::vector<std::string> offer_of_rank;
};
BackendOffers collectBackendOffers(context::ContextState& context, const std::string& prefix,
                                   const std::vector<int>& instance_of_rank);

/// The control block of the ranks that share a host.
struct HostControlBlock {
  int members = 0;
  std::size_t offset = 0;  ///< in that host's segment
};

/// By a host's first rank, for all `members` there: takes the control block's piece of the segment. Throws
/// popdist_error.
void offerControlBlock(context::ContextState& context, const std::string& prefix, int first_rank,
                       int members);
/// Of each host, in order of their ranks. Throws popdist_error kResourceExhausted when a segment was full.
std::vector<HostControlBlock> collectControlBlocks(context::ContextState& context, const std::string& prefix,
                                                   int ranks);

}  // namespace popdist::group
