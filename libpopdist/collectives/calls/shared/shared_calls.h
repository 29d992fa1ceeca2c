// SPDX-License-Identifier: Apache-2.0
// Carries out the collectives of ranks that share this host's memory.
#pragma once

#include <optional>
#include <vector>

#include "libpopdist/collectives/calls/shared/shared_plans.h"
#include "libpopdist/collectives/calls/shared/shared_send_recv.h"
#include "libpopdist/collectives/choice/in_memory.h"
#include "libpopdist/collectives/choice/trials.h"
#include "libpopdist/collectives/group/call_path.h"
#include "libpopdist/collectives/group/end_notice_monitor.h"
#include "libpopdist/collectives/shared/engine.h"
#include "libpopdist/collectives/shared/reading_probe.h"

namespace popdist::calls {

class SharedCalls final : public group::CallPath {
 public:
  /// `place` is that of some of the `members`, which outlive this object, and `use` this rank's part of its
  /// control block. `forced`: see choice::MemorySetting.
  SharedCalls(shared::Place place, const group::Members& members,
              std::optional<choice::SharedAlgorithm> forced, transport::PieceUse use);

  bool run(const group::CollectiveCall& call) override;
  exec::Failure takeFailure() override { return meeting_.takeFailure(); }
  void abort(const exec::Failure& failure) override { meeting_.abort(failure); }
  void setDeadline(const exec::MovingDeadline& deadline) override { meeting_.waiter().setDeadline(deadline); }

  /// "inline", or the name of a choice::SharedAlgorithm.
  const char* algorithmTaken() const override { return taken_; }
  bool sharesMemory() const override { return true; }
  bool peerIsAborting() override { return meeting_.waiter().peerIsAborting(); }
  bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) override {
    return meeting_.awaitNext(there, limit);
  }
  void wake() override { meeting_.waiter().wakeSleepers(); }

  /// See Waiter.
  void setPeerFailure(shared::Waiter::PeerFailure peer_failure) {
    meeting_.waiter().setPeerFailure(std::move(peer_failure));
  }
  /// The failure of a rank that has aborted, if any. Also between calls.
  std::optional<exec::Failure> peerFailure() { return meeting_.waiter().peerFailure(); }

 private:
  using CollectiveCall = group::CollectiveCall;

  bool runSendRecv(const CollectiveCall& call);
  bool runInline(const CollectiveCall& call, const shared::Call& shared);
  bool runInlineInPieces(const CollectiveCall& call, const shared::Call& shared);
  bool runPlanned(const CollectiveCall& call, const shared::Call& shared);
  std::optional<choice::Offers> exchangeOffers(const CollectiveCall& call, const shared::Call& shared,
                                               const choice::MemoryCall& asked);
  bool carryOut(const CollectiveCall& call, const shared::Call& shared, const choice::MemoryCall& asked,
                plan::Offer own, const choice::PlanChoice& chosen);
  bool tellCounts(const CollectiveCall& call);
  bool canBeRead(const CollectiveCall& call) const;
  std::size_t inputBytes(const CollectiveCall& call) const;
  plan::Offer offerOf(const CollectiveCall& call, bool pulls) const;
  bool sends(const CollectiveCall& call, int rank) const;
  std::size_t largestBytes(const CollectiveCall& call) const;

  const transport::PieceUse use_;  // until nothing below needs it
  const int rank_;
  const int ranks_;
  group::EndNoticeMonitor monitor_;
  shared::Meeting meeting_;
  shared::Engine engine_;
  shared::ReadingProbe reading_;
  const choice::MemoryChoice choice_;
  choice::Trials trials_;
  SharedSendRecv send_recv_;
  std::vector<const void*> from_;          ///< inline data by rank
  std::vector<choice::RankOffer> offers_;  ///< by rank
  std::vector<std::uint64_t> matrix_;      ///< ragged all-to-all: elements from each rank to each
  SharedPlans plans_;
  const char* taken_ = "";
};

}  // namespace popdist::calls
