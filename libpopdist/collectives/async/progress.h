// SPDX-License-Identifier: Apache-2.0
// The thread of an AsyncCommunicator. It works in rounds: in each, the members exchange what was issued since
// the last one, and then carry out the calls that all have issued. A member without news joins a round that
// another one has begun. Only this thread makes the communicator's calls.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/async/agreed_order.h"
#include "libpopdist/collectives/async/message.h"
#include "libpopdist/collectives/async/pending.h"
#include "popdist/communicator.hpp"

namespace popdist::async {

/// Throws popdist_error kInvalidArgument if the call must not be issued under that name.
void checkIssue(Communicator& communicator, const std::string& name, const group::CollectiveCall& call);

class Progress {
 public:
  /// Throws std::system_error if the thread cannot be started; the caller then keeps the communicator.
  explicit Progress(std::unique_ptr<Communicator>&& communicator);
  ~Progress();

  using State = std::shared_ptr<Pending::State>;

  /// Throws popdist_error as async.hpp documents for issuing. `on_result`: Pending::State::on_result.
  State submit(const std::string& name, group::CollectiveCall call,
               std::optional<std::chrono::milliseconds> timeout, std::function<void()> on_result = {});

  /// From any thread: ends the communicator, on all members, with what has gone wrong on `instance`.
  void abort(const pop::Status& why, int instance);

  /// Before the first call, on all members: they will issue the same calls in the same order, so that other
  /// ones are an error, and end the communicator.
  void expectOrder() { in_order_ = true; }

  const Communicator& communicator() const { return *communicator_; }
  /// True if all members share a host's memory; the same on all of them.
  bool isShared() const { return communicator_->impl().group().path().sharesMemory(); }

 private:
  using Clock = pop::sys::AwakeClock;

  void loop();
  bool awaitRound();
  bool beginsAtOnce() const;
  void round();
  std::vector<Message> exchange();
  Message ownMessage();
  Clock::time_point roundDeadline();
  std::optional<Clock::time_point> earliestDeadline();
  void carryOut(const Agreed& agreed);
  void carryOutAgreed();
  void requireOrder();
  void endBusy();
  std::string describe(const State& state);
  void finish(const State& state, std::optional<popdist_error> error);
  std::optional<AbortMessage> lateCall();
  void end(int rank, const AbortMessage& abort_message);
  void end(const popdist_error& cause);
  group::Group& group() { return communicator_->impl().group(); }

  std::unique_ptr<Communicator> communicator_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  std::atomic<bool> in_order_{false};
  std::atomic<bool> changed_{false};  ///< there is something new for the thread

  std::mutex mutex_;  ///< guards the members up to the next empty line
  std::map<std::string, State> pending_;
  std::vector<Announcement> unannounced_;
  bool leaving_ = false;
  std::optional<AbortMessage> aborting_;
  std::optional<Clock::time_point> leave_by_;  ///< the thread's clock, once it has seen that
  std::optional<popdist_error> ended_;  ///< why no call is possible any more; empty: calls are possible

  // Used by the thread only:
  Agreement agreement_;
  std::optional<AbortMessage> abort_message_;  ///< to be sent in the next round
  // From the first call that a round carries out until all members have entered the next round.
  struct Busy {
    Clock::time_point since;
    Clock::time_point until;  ///< the last one's deadline
  };
  std::optional<Busy> busy_;
  bool had_news_ = false;                        ///< the last round had news
  std::chrono::milliseconds between_rounds_{1};  ///< time between rounds without news
  std::vector<std::uint64_t> sizes_;
  std::string bodies_;
  std::thread thread_;  ///< uses all the others
};

}  // namespace popdist::async
