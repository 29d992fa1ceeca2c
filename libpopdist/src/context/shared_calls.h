// SPDX-License-Identifier: Apache-2.0
// Carries out the collectives of a communicator whose ranks are all on this host.
#pragma once

#include <optional>
#include <vector>

#include "libpopdist/src/context/collective_call.h"
#include "libpopdist/src/context/shared_plans.h"
#include "libpopdist/src/context/shared_send_recv.h"
#include "libpopdist/src/context/trials.h"
#include "libpopdist/src/plan/shared_select.h"
#include "libpopdist/src/shared/engine.h"
#include "libpopdist/src/shared/reading_probe.h"

namespace popdist::context {

class SharedCalls {
 public:
  /// `forced`: instead of what the table says or calls find out, where it can be done.
  SharedCalls(shared::Engine::Place place, exec::PeerMonitor& monitor, bool oversubscribed,
              std::optional<plan::SharedAlgorithm> forced);

  /// False: takeFailure() says why, and the communicator is of no use any more.
  bool run(const CollectiveCall& call) { return run(call, call); }
  /// The same as a part of `whole`, which is what all ranks must have called.
  bool run(const CollectiveCall& call, const CollectiveCall& whole);
  exec::Failure takeFailure() {
    return own_failure_.status.ok() ? engine_.takeFailure() : engine_.giveUp(own_failure_);
  }
  /// Why another has given up, if one has. Also between calls.
  std::optional<exec::Failure> whyPeerHasGivenUp() { return engine_.whyPeerHasGivenUp(); }
  /// Another has given up, or is about to: takeFailure() says why.
  bool peerIsGivingUp() { return engine_.peerIsGivingUp(); }
  /// For a reason from elsewhere: tells the others.
  void giveUp(const exec::Failure& failure) { engine_.giveUp(failure); }

  /// With which the last call was carried out: "notes", or the name of a plan::SharedAlgorithm.
  const char* algorithmTaken() const { return taken_; }

  /// As Waiter::setDeadline.
  void setDeadline(exec::MovingDeadline deadline) { engine_.setDeadline(std::move(deadline)); }

  bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) {
    return engine_.awaitNext(there, limit);
  }
  void wake() { engine_.wake(); }

 private:
  using Algorithm = plan::SharedAlgorithm;

  bool runSendRecv(const CollectiveCall& call);
  bool runInline(const CollectiveCall& call, const shared::Call& shared);
  bool runInlineInPieces(const CollectiveCall& call, const shared::Call& shared);
  bool runPlanned(const CollectiveCall& call, const shared::Call& shared);
  bool tellCounts(const CollectiveCall& call);
  struct Choice {
    PlanChoice plan;
    std::optional<Trials::Kind> trial{};
  };
  std::optional<Choice> choose(const CollectiveCall& call, const shared::Call& shared,
                               const shared::Buffers& buffers, bool pulls);
  std::optional<bool> canPull(const CollectiveCall& call, const shared::Call& shared);
  bool canBeRead(const CollectiveCall& call) const;
  std::size_t inputBytes(const CollectiveCall& call) const;
  Trials::Kind kindOf(const CollectiveCall& call) const;
  bool findsOut(const CollectiveCall& call) const;
  std::optional<Trials::Kind> contestOf(const CollectiveCall& call) const;
  void hear(const Trials::Kind& kind);
  bool everyReceiverCanBeGiven(const CollectiveCall& call) const;
  shared::Offer offerOf(const CollectiveCall& call, bool pulls) const;
  bool sends(const CollectiveCall& call, int rank) const;
  std::size_t largestBytes(const CollectiveCall& call) const;

  const int rank_;
  const int ranks_;
  const plan::StageLayout layout_;
  const std::optional<Algorithm> forced_;
  shared::Engine engine_;
  shared::ReadingProbe reading_;
  Trials trials_;
  SharedSendRecv send_recv_;
  std::vector<std::uint64_t> matrix_;  ///< of a ragged all-to-all: elements from each rank to each
  SharedPlans plans_;
  exec::Failure own_failure_;
  const char* taken_ = "";
};

}  // namespace popdist::context
