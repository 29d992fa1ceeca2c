// SPDX-License-Identifier: Apache-2.0
// Carries out the collectives of a communicator over several hosts: in the shared memory of each host, by
// messages between the hosts, and in shared memory again. choice/over_hosts.h decides which collectives go
// this way.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "common/sys/awake_clock.h"
#include "libpopdist/collectives/calls/messages/message_calls.h"
#include "libpopdist/collectives/calls/shared/shared_calls.h"
#include "libpopdist/collectives/choice/over_hosts.h"
#include "libpopdist/collectives/group/time_left.h"
#include "libpopdist/collectives/plan/host_layout.h"

namespace popdist::calls {

class HierarchicalCalls final : public group::CallPath {
 public:
  /// `inside` connects this host's members, `messages` all ranks.
  HierarchicalCalls(plan::HostLayout layout, std::unique_ptr<SharedCalls> inside,
                    std::unique_ptr<MessageCalls> messages);

  bool run(const group::CollectiveCall& call) override;
  exec::Failure takeFailure() override { return failed_across_ ? *failed_across_ : inside_->takeFailure(); }
  void abort(const exec::Failure& failure) override;
  std::uint64_t callsBegun() const override { return messages_->callsBegun(); }
  exec::Header note() const override { return messages_->note(); }
  bool tell(int instance, const exec::Header& note, bool dials) override {
    return messages_->tell(instance, note, dials);
  }
  void setDeadline(const exec::MovingDeadline& deadline) override;
  const char* algorithmTaken() const override { return taken_; }

 private:
  using Clock = pop::sys::AwakeClock;
  using CollectiveCall = group::CollectiveCall;
  using Bytes = std::vector<std::byte>;

  choice::HierarchyWay wayOf(const CollectiveCall& call) const;
  bool runInLevels(const CollectiveCall& call, choice::HierarchyWay way);
  bool runFlat(const CollectiveCall& call);
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
    std::vector<int> ranks;  ///< the representative of each host
  };
  Representatives representativesFor(int root) const;
  template <typename Work>
  bool inPieces(const CollectiveCall& call, const Work& work);
  bool inside(plan::Operation operation, const void* input, void* output, std::size_t count, int root = 0);
  bool across(const std::vector<int>& ranks, plan::Operation operation, const void* input, void* output,
              std::size_t count, int root = 0);
  bool acrossOn(const plan::Plan& plan, const void* input, void* output);
  bool succeeded(exec::Failure failure);
  std::chrono::milliseconds timeLeft() const { return group::timeLeft(deadline_); }
  bool isLeader() const { return layout_.local() == 0; }

  const plan::HostLayout layout_;
  const std::unique_ptr<SharedCalls> inside_;
  const std::unique_ptr<MessageCalls> messages_;
  const CollectiveCall* call_ = nullptr;  ///< the call in progress, as its caller made it
  Clock::time_point deadline_;
  std::optional<exec::Failure> failed_across_;
  const char* taken_ = "";
  Bytes kept_;  ///< data that this rank holds for its host
};

}  // namespace popdist::calls
