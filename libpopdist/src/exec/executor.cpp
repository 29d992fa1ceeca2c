// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/exec/executor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/src/exec/backoff.h"
#include "libpopdist/src/exec/rank_progress.h"

namespace popdist::exec {
namespace {

using Ranks = std::vector<RankProgress>;
using Clock = pop::sys::AwakeClock;

// For what one that has left well has sent: its connection does not end where a forked child keeps it.
constexpr std::chrono::seconds kDeliveryTimeout{5};
// Between looks at what those have sent who are not waited for.
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

// Not all ranks send each other something in every call: what is known is where one was heard of last.
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

  std::optional<Failure> find(Ranks& ranks) {
    if (auto refusal = findRefusal(ranks)) return refusal;
    if (waiting_.peer_failure) {
      if (auto failure = waiting_.peer_failure()) return failure;
    }
    if (waiting_.monitor->anyEnded()) {
      // What the ended one sent before its end still counts; only if that changes nothing is it missed. Over
      // a network the news of its end may come before that.
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
    if (auto lost = findLostConnection(ranks)) return lost;
    if (auto refusal = listenToAll(ranks)) return refusal;
    if (Clock::now() >= deadline()) return deadlineFailure(ranks, call_, waiting_);
    return std::nullopt;
  }

  void moved() {
    still_since_ = Clock::time_point::max();
    lost_since_ = Clock::time_point::max();
    next_look_ = {};
  }

 private:
  Clock::time_point deadline() const {
    return waiting_.moving_deadline ? waiting_.moving_deadline() : waiting_.deadline;
  }

  // Where ranks are in different calls, who waits for whom may go round: somebody has sent something else to
  // one that does not wait for it.
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
    // What a lost one sent before still counts.
    if (lost.empty() || pollAll(ranks)) return std::nullopt;
    for (RankProgress& rank : ranks) rank.listenToAll();
    if (auto refusal = findRefusal(ranks)) return refusal;
    const Clock::time_point now = Clock::now();
    // A connection that breaks says only that; the end notice of whoever was at its other end, which comes by
    // another way, says why.
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
  Clock::time_point lost_since_ = Clock::time_point::max();
  Clock::time_point next_look_;  ///< at all connections; none yet since something has moved
  Clock::time_point still_since_ = Clock::time_point::max();  ///< nothing comes, and somebody has ended
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
