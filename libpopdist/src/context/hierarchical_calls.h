// SPDX-License-Identifier: Apache-2.0
// Carries out the collectives of a communicator over several hosts: in the shared memory of each host, by
// messages between the hosts, and in shared memory again. plan/hierarchy.h says which, and how.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/sys/awake_clock.h"
#include "libpopdist/src/context/collective_call.h"
#include "libpopdist/src/context/shared_calls.h"
#include "libpopdist/src/plan/hierarchy.h"
#include "libpopdist/src/plan/select.h"

namespace popdist::context {

class HierarchicalCalls {
 public:
  /// Runs one plan by messages, within the time.
  using Across =
      std::function<exec::Failure(const exec::Call& call, const plan::Plan& plan, const void* input,
                                  void* output, std::chrono::milliseconds timeout)>;

  /// `inside`: of this host's members.
  HierarchicalCalls(plan::HostLayout layout, std::unique_ptr<SharedCalls> inside, Across across);

  /// kFlat: it is not for this class, but for messages between all ranks.
  plan::HierarchyWay wayOf(const CollectiveCall& call) const;

  /// False: takeFailure() says why, and the communicator is of no use any more.
  bool run(const CollectiveCall& call);
  /// Before a call that goes by messages alone: compares it with those of this host's other members, one of
  /// whom may be about to wait in memory where this one never comes. False: as above.
  bool meet(const CollectiveCall& call);
  /// Of the call that was begun last; at least a millisecond.
  std::chrono::milliseconds timeLeft() const;
  /// As Waiter::setDeadline; what goes across knows it already.
  void setDeadline(exec::MovingDeadline deadline) { inside_->setDeadline(std::move(deadline)); }
  /// Tells this host's members, too.
  exec::Failure takeFailure();
  /// For a reason from elsewhere: tells this host's members.
  void giveUp(const exec::Failure& failure) { inside_->giveUp(failure); }
  /// Why another member of this host has given up, if one has.
  std::optional<exec::Failure> whyPeerHasGivenUp() { return inside_->whyPeerHasGivenUp(); }

 private:
  using Clock = pop::sys::AwakeClock;
  using Bytes = std::vector<std::byte>;

  void begin(const CollectiveCall& call);
  bool allReduceByLeaders(const CollectiveCall& call);
  bool allReduceInLanes(const CollectiveCall& call);
  bool reduceScatterInLanes(const CollectiveCall& call);
  bool allGatherByLeaders(const CollectiveCall& call);
  bool allGatherInLanes(const CollectiveCall& call);
  bool broadcast(const CollectiveCall& call);
  bool reduce(const CollectiveCall& call);
  bool barrier();

  struct Representatives {
    int local = 0;           ///< on this host
    bool mine = false;       ///< this rank
    std::vector<int> ranks;  ///< of each host
  };
  Representatives representativesFor(int root) const;
  std::size_t pieceOf(const CollectiveCall& call) const;
  bool inside(CollectiveCall call);
  bool across(const std::vector<int>& ranks, plan::Request request, const void* input, void* output);
  bool acrossOn(const plan::Plan& plan, const void* input, void* output);
  bool isLeader() const { return layout_.local() == 0; }

  const plan::HostLayout layout_;
  const std::unique_ptr<SharedCalls> inside_;
  const Across across_;
  const CollectiveCall* call_ = nullptr;  ///< that is under way, as its caller made it
  Clock::time_point deadline_;
  std::optional<exec::Failure> failed_across_;
  Bytes kept_;  ///< what this rank holds for its host
};

}  // namespace popdist::context
