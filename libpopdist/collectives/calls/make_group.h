// SPDX-License-Identifier: Apache-2.0
// Makes groups. All functions are collective over all instances of the job, or, if the group has a `name`,
// over its members alone; `instance_of_rank[r]` is the instance that holds rank r. An instance that holds
// none gets nullptr. They throw popdist_error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libpopdist/collectives/calls/messages/message_runner.h"
#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/collectives/group/group.h"

namespace popdist::calls {

/// One rank per instance; through shared memory within a host and by messages between hosts.
std::unique_ptr<group::Group> makeNativeGroup(context::ContextState& context,
                                              std::vector<int> instance_of_rank,
                                              const std::string& name = {});

/// One rank per instance; by messages that the context's plugin moves.
std::unique_ptr<group::Group> makeBackendGroup(context::ContextState& context,
                                               std::vector<int> instance_of_rank,
                                               const std::string& name = {});

/// Any number of ranks per instance; by messages only. The caller runs the plans itself.
struct MessageGroup {
  std::unique_ptr<group::Group> group;
  MessageRunner* runner = nullptr;  ///< the group's
};
MessageGroup makeMessageGroup(context::ContextState& context, std::vector<int> instance_of_rank);

/// True if a native group of `instances`, all of the job, would share one host's memory.
bool wouldShareMemory(const context::ContextState& context, int instances);

}  // namespace popdist::calls
