// SPDX-License-Identifier: Apache-2.0
// The exchange of requests before a sendRecv by messages.
#pragma once

#include "libpopdist/collectives/calls/messages/message_runner.h"
#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::calls {

/// All ranks learn the requests of all ranks, in the fewest possible rounds: otherwise a rank could wait for
/// ever for one that sends to another. Fails on all ranks if requests contradict each other.
exec::Failure comparePartners(MessageRunner& runner, const group::CollectiveCall& call);

}  // namespace popdist::calls
