// SPDX-License-Identifier: Apache-2.0
// Carries out the collectives of ranks that share this host's memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "libpopdist/src/calls/shared/shared_plans.h"
#include "libpopdist/src/calls/shared/shared_send_recv.h"
#include "libpopdist/src/choice/memory_choice.h"
#include "libpopdist/src/group/call_path.h"
#include "libpopdist/src/shared/engine.h"

namespace popdist::calls {

class SharedCalls final : public group::CallPath {
 public:
  /// `forced`: as MemoryChoice has it.
  SharedCalls(shared::Place place, std::unique_ptr<exec::PeerMonitor> monitor, bool oversubscribed,
              std::optional<choice::SharedAlgorithm> forced);

  bool run(const group::CollectiveCall& call) override;
  exec::Failure takeFailure() override {
    return own_failure_.status.ok() ? engine_.takeFailure() : engine_.giveUp(own_failure_);
  }
  void giveUp(const exec::Failure& failure) override { engine_.giveUp(failure); }
  void setDeadline(const exec::MovingDeadline& deadline) override { engine_.setDeadline(deadline); }

  /// "notes", or the name of a choice::SharedAlgorithm.
  const char* algorithmTaken() const override { return taken_; }
  bool sharesMemory() const override { return true; }
  bool peerIsGivingUp() override { return engine_.peerIsGivingUp(); }
  bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) override {
    return engine_.awaitNext(there, limit);
  }
  void wake() override { engine_.wake(); }

  /// Why another has given up, if one has. Also between calls.
  std::optional<exec::Failure> whyPeerHasGivenUp() { return engine_.whyPeerHasGivenUp(); }

 private:
  using CollectiveCall = group::CollectiveCall;

  bool runSendRecv(const CollectiveCall& call);
  bool runInline(const CollectiveCall& call, const shared::Call& shared);
  bool runInlineInPieces(const CollectiveCall& call, const shared::Call& shared);
  bool runPlanned(const CollectiveCall& call, const shared::Call& shared);
  bool tellCounts(const CollectiveCall& call);
  bool canBeRead(const CollectiveCall& call) const;
  std::size_t inputBytes(const CollectiveCall& call) const;
  shared::Offer offerOf(const CollectiveCall& call, bool pulls) const;
  bool sends(const CollectiveCall& call, int rank) const;
  std::size_t largestBytes(const CollectiveCall& call) const;

  const int rank_;
  const int ranks_;
  const std::unique_ptr<exec::PeerMonitor> monitor_;
  shared::Engine engine_;
  choice::MemoryChoice choice_;
  SharedSendRecv send_recv_;
  std::vector<std::uint64_t> matrix_;  ///< of a ragged all-to-all: elements from each rank to each
  SharedPlans plans_;
  exec::Failure own_failure_;
  const char* taken_ = "";
};

}  // namespace popdist::calls
