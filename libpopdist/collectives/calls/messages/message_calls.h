// SPDX-License-Identifier: Apache-2.0
// Carries out collectives by messages: over hosts, on a backend plugin, and where tests ask for it.
#pragma once

#include <optional>

#include "libpopdist/collectives/calls/messages/message_runner.h"
#include "libpopdist/collectives/choice/by_messages.h"
#include "libpopdist/collectives/group/call_path.h"
#include "libpopdist/collectives/plan/flows.h"
#include "libpopdist/collectives/plan/plan.h"

namespace popdist::calls {

/// The description that the messages of a call carry.
exec::Call messageCallOf(const group::CollectiveCall& call);

class MessageCalls final : public group::CallPath {
 public:
  /// `forced` replaces the table's choice where the algorithm supports the call. run() is for groups with one
  /// rank in this instance.
  MessageCalls(std::unique_ptr<MessageRunner> runner, std::optional<choice::Algorithm> forced)
      : runner_(std::move(runner)), rank_(runner_->members().localRanks().front()), forced_(forced) {}

  bool run(const group::CollectiveCall& call) override {
    failure_ = carryOut(call);
    return failure_.status.ok();
  }
  exec::Failure takeFailure() override { return failure_; }
  void abort(const exec::Failure& failure) override { runner_->abort(failure); }
  std::uint64_t callsBegun() const override { return runner_->callsBegun(); }
  exec::Header note() const override { return runner_->note(); }
  bool tell(int instance, const exec::Header& note, bool dials) override {
    return runner_->tell(instance, note, dials);
  }
  void setDeadline(const exec::MovingDeadline& deadline) override { runner_->setDeadline(deadline); }
  const char* algorithmTaken() const override { return taken_; }

  bool isForced() const { return forced_.has_value(); }
  MessageRunner& runner() { return *runner_; }

 private:
  using CollectiveCall = group::CollectiveCall;

  exec::Failure carryOut(CollectiveCall call);
  plan::Plan planFor(const CollectiveCall& call);
  plan::Flows flowsOf(const CollectiveCall& call) const;
  exec::Failure send(const CollectiveCall& call);
  exec::Failure checkPartners(CollectiveCall& call);
  exec::Failure compareCounts(const CollectiveCall& call);
  int size() const { return runner_->members().size(); }

  const std::unique_ptr<MessageRunner> runner_;
  const int rank_;
  const std::optional<choice::Algorithm> forced_;
  const char* taken_ = "";
  exec::Failure failure_;
};

}  // namespace popdist::calls
