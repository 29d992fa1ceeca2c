// SPDX-License-Identifier: Apache-2.0
// Carries out the collectives of a communicator whose ranks exchange messages: over hosts, and where tests
// want it.
#pragma once

#include "libpopdist/src/context/collective_call.h"
#include "libpopdist/src/context/group.h"
#include "libpopdist/src/plan/flows.h"
#include "libpopdist/src/plan/plan.h"

namespace popdist::context {

/// What the messages of a call say of it, and what a mean of it is taken over: of `members`.
exec::Call messageCallOf(const CollectiveCall& call, int members);

class MessageCalls {
 public:
  /// `group` holds one rank of this instance.
  explicit MessageCalls(Group& group) : group_(group), rank_(group.localRanks().front()) {}

  /// Throws popdist_error; the group is then unusable.
  void run(const CollectiveCall& call);

 private:
  void carryOut(CollectiveCall call);
  plan::Plan planFor(const CollectiveCall& call) const;
  plan::Flows flowsOf(const CollectiveCall& call) const;
  /// `call` as a part of `whole`, which is what all ranks must have called.
  void send(const CollectiveCall& call, const CollectiveCall& whole);
  void checkPartners(CollectiveCall& call);
  void compareCounts(const CollectiveCall& call);

  Group& group_;
  const int rank_;
};

}  // namespace popdist::context
