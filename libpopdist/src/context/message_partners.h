// SPDX-License-Identifier: Apache-2.0
// What ranks that exchange messages tell each other before a sendRecv.
#pragma once

#include "libpopdist/src/context/collective_call.h"
#include "libpopdist/src/context/group.h"

namespace popdist::context {

/// Every rank learns what every rank asks for, in as few rounds as there can be: who waited for somebody that
/// sends to another would wait for ever. Throws popdist_error where they do not fit together, on all ranks;
/// the group is then unusable.
void comparePartners(Group& group, const CollectiveCall& call);

}  // namespace popdist::context
