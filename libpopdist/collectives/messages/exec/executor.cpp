// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/exec/executor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/messages/exec/backoff.h"
#include "libpopdist/collectives/messages/exec/rank_progress.h"
#include "libpopdist/collectives/messages/exec/short_wait.h"

namespace popdist::exec {
namespace {

using Ranks = std::vector<RankProgress>;
using Clock = pop::sys::AwakeClock;

// Limit of the wait for data that an instance sent before it exited cleanly: its connection does not end
// while a forked child keeps it open.
constexpr std::chrono::seconds kDeliveryTimeout{5};
// Time between two checks for messages from ranks that the call does not wait for.
constexpr std::chrono::milliseconds kBetweenLooks{100};

bool pollAll(Ranks& ranks) {
  bool moved = false;
  for (RankProgress& rank : ranks) moved |= rank.poll();
  return moved;
}

bool allDone(const Ranks& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const RankProgress& rank) { return rank.done(); });
}

std::vector<int> withoutRepeats(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<int> awaitedBy(const Ranks& ranks) {
  std::vector<int> awaited;
  for (const RankProgress& rank : ranks) rank.appendAwaited(awaited);
  return withoutRepeats(std::move(awaited));
}

std::vector<int> missedIfEnded(const Ranks& ranks) {
  std::vector<int> missed;
  for (const RankProgress& rank : ranks) rank.appendMissedIfEnded(missed);
  return withoutRepeats(std::move(missed));
}

std::optional<Failure> findRefusal(const Ranks& ranks) {
  for (const RankProgress& rank : ranks) {
    if (rank.refusal()) return rank.refusal();
  }
  return std::nullopt;
}

// Not all ranks exchange messages in every call, so the only thing known about a rank is its last message.
std::string whereIs(const std::string& who, const Heard& heard, const Call& call) {
  if (heard.calls > call.sequence) return who + " is in the same call";
  const std::string text = who + " has sent nothing for call " + std::to_string(call.sequence + 1) + ", " +
                           describeCall(call.key.packed(), call.count, call.tensor);
  if (heard.calls == 0) return text + ", or for an earlier one";
  return text + "; its last message was for call " + std::to_string(heard.calls) + ", " +
         describeCall(heard.key, heard.count, "");
}

Failure deadlineFailure(const Ranks& ranks, const Call& call, const Waiting& waiting) {
  const std::vector<int> awaited = awaitedBy(ranks);
  std::string who;
  std::string where;
  for (const int rank : awaited) {
    const bool is_known = !waiting.heard.empty();
    const std::string name = nameOfRank(waiting.names, rank);
    who += (who.empty() ? "" : ", ") + name;
    where += (where.empty() ? "" : "; ") +
             whereIs(awaited.size() > 1 ? "rank " + std::to_string(rank) : "it",
                     is_known ? waiting.heard[static_cast<std::size_t>(rank)] : Heard(), call);
  }
  return {.status = {pop::Code::kDeadlineExceeded, describeDeadline(who, where)},
          .peer_rank = awaited.empty() ? -1 : awaited.front()};
}

// Finds what keeps a stalled call from ever ending, if anything does.
class Diagnosis {
 public:
  Diagnosis(const Call& call, const Waiting& waiting) : call_(call), waiting_(waiting) {}
  ~Diagnosis() { waiting_.monitor->over(); }
  Diagnosis(const Diagnosis&) = delete;
  Diagnosis& operator=(const Diagnosis&) = delete;

  std::optional<Failure> find(Ranks& ranks) {
    if (auto refusal = findRefusal(ranks)) return refusal;
    if (waiting_.peer_failure) {
      if (auto failure = waiting_.peer_failure()) return failure;
    }
    if (waiting_.monitor->anyEnded()) {
      // Data that an ended instance sent before its end still counts: it is missed only if polling moves
      // nothing more. Over a network, the end notice may arrive before the data.
      if (pollAll(ranks)) {
        moved();
        return std::nullopt;
      }
      const Clock::time_point now = Clock::now();
      still_since_ = std::min(still_since_, now);
      const bool in_vain = now - still_since_ >= kDeliveryTimeout;
      if (const auto loss = waiting_.monitor->loss(in_vain ? awaitedBy(ranks) : missedIfEnded(ranks)))
        return Failure{pop::unavailable(loss->text), loss->instance};
    }
    if (const auto found = findElsewhere(awaitedBy(ranks)))
      return Failure{pop::Status(found->code, found->text), found->instance};
    if (auto lost = findLostConnection(ranks)) return lost;
    if (auto refusal = listenToAll(ranks)) return refusal;
    if (Clock::now() >= deadline()) return deadlineFailure(ranks, call_, waiting_);
    return std::nullopt;
  }

  void moved() {
    still_since_ = Clock::time_point::max();
    lost_since_ = Clock::time_point::max();
    next_look_ = {};
    waiting_.monitor->over();
  }

 private:
  Clock::time_point deadline() const {
    return waiting_.moving_deadline ? waiting_.moving_deadline() : waiting_.deadline;
  }

  std::optional<PeerLoss> findElsewhere(const std::vector<int>& awaited) {
    if (auto cancelled = waiting_.monitor->cancelled()) return cancelled;
    if (!std::exchange(has_waited_, true)) is_short_ = deadline() - Clock::now() < kShortWait;
    if (is_short_) return std::nullopt;
    for (std::size_t rank = 0; rank < waiting_.heard.size(); ++rank) {
      const std::optional<Header>& note = waiting_.heard[rank].elsewhere;
      if (!note || !note->isBefore(call_.sequence)) continue;
      const int peer = static_cast<int>(rank);
      if (auto found = waiting_.monitor->crossing(peer, *note, std::ranges::binary_search(awaited, peer)))
        return found;
    }
    return waiting_.monitor->elsewhere(awaited);
  }

  // When ranks are in different calls they may wait for each other in a circle: then a rank has received a
  // message of another call from a rank that it does not wait for.
  std::optional<Failure> listenToAll(Ranks& ranks) {
    const Clock::time_point now = Clock::now();
    if (now < next_look_) return std::nullopt;
    const bool first = next_look_ == Clock::time_point();
    next_look_ = now + kBetweenLooks;
    if (first) return std::nullopt;
    for (RankProgress& rank : ranks) rank.listenToAll();
    return findRefusal(ranks);
  }

  std::optional<Failure> findLostConnection(Ranks& ranks) {
    std::vector<LostConnection> lost;
    for (const RankProgress& rank : ranks) rank.appendLost(lost);
    if (lost.empty()) lost_since_ = Clock::time_point::max();
    // Data that a lost peer sent before still counts.
    if (lost.empty() || pollAll(ranks)) return std::nullopt;
    for (RankProgress& rank : ranks) rank.listenToAll();
    if (auto refusal = findRefusal(ranks)) return refusal;
    const Clock::time_point now = Clock::now();
    // A broken connection gives no reason. The end notice of the instance at its other end does, and arrives
    // by another way.
    lost_since_ = std::min(lost_since_, now);
    if (now - lost_since_ < kEndNoticeTimeout) return std::nullopt;
    const LostConnection& first = lost.front();
    const bool is_own_fault = first.why.code() == pop::Code::kResourceExhausted;
    return Failure{
        .status = {is_own_fault ? pop::Code::kResourceExhausted : pop::Code::kUnavailable,
                   "no connection to " + nameOfRank(waiting_.names, first.rank) + ": " + first.why.message()},
        .peer_rank = is_own_fault ? -1 : first.rank};
  }

  const Call& call_;
  const Waiting& waiting_;
  bool has_waited_ = false;
  bool is_short_ = false;  ///< once it has waited
  Clock::time_point lost_since_ = Clock::time_point::max();
  Clock::time_point
      next_look_;  ///< when to check all connections next; unset until the call has stalled once
  Clock::time_point still_since_ =
      Clock::time_point::max();  ///< since when nothing has arrived although an instance has ended
};

}  // namespace

Failure execute(const Call& call, std::span<RankWork> work, const Waiting& waiting) {
  Ranks ranks;
  ranks.reserve(work.size());
  for (const RankWork& each : work) ranks.emplace_back(call, each, waiting);

  Backoff backoff(*waiting.sleeper, waiting.oversubscribed);
  Diagnosis diagnosis(call, waiting);
  while (!allDone(ranks)) {
    if (pollAll(ranks)) {
      diagnosis.moved();
      backoff.reset();
      continue;
    }
    if (backoff.patient()) {
      if (auto failure = diagnosis.find(ranks)) {
        backoff.reset();
        return *failure;
      }
    }
    backoff.wait();
  }
  backoff.reset();
  return {};
}

}  // namespace popdist::exec
