// SPDX-License-Identifier: Apache-2.0
// Makes groups. All functions are collective over all instances of the job; `instance_of_rank[r]` is the
// instance that holds rank r. An instance that holds none gets nullptr. They throw popdist_error.
#pragma once

#include <memory>
#include <vector>

#include "libpopdist/src/calls/messages/message_runner.h"
#include "libpopdist/src/context/context_state.h"
#include "libpopdist/src/group/group.h"

namespace popdist::calls {

/// Of one rank an instance, through the memory that those of a host share and by messages between hosts.
std::unique_ptr<group::Group> makeNativeGroup(context::ContextState& context,
                                              std::vector<int> instance_of_rank);

/// Of one rank an instance, by messages that the context's plugin moves.
std::unique_ptr<group::Group> makeBackendGroup(context::ContextState& context,
                                               std::vector<int> instance_of_rank);

/// Of any number of ranks an instance, by messages alone, which the caller runs itself.
struct MessageGroup {
  std::unique_ptr<group::Group> group;
  MessageRunner* runner = nullptr;  ///< the group's
};
MessageGroup makeMessageGroup(context::ContextState& context, std::vector<int> instance_of_rank);

/// Whether a native group of so many instances, all of the job's, would share one host's memory.
bool wouldShareMemory(const context::ContextState& context, int instances);

}  // namespace popdist::calls
