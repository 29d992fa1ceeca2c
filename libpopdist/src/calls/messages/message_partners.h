// SPDX-License-Identifier: Apache-2.0
// What ranks that exchange messages tell each other before a sendRecv.
#pragma once

#include "libpopdist/src/calls/messages/message_runner.h"
#include "libpopdist/src/group/collective_call.h"

namespace popdist::calls {

/// Every rank learns what every rank asks for, in as few rounds as there can be: who waited for somebody that
/// sends to another would wait for ever. Fails where they do not fit together, on all ranks.
exec::Failure comparePartners(MessageRunner& runner, const group::CollectiveCall& call);

}  // namespace popdist::calls
