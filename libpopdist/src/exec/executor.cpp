// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/exec/executor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/src/exec/backoff.h"
#include "libpopdist/src/exec/rank_progress.h"

namespace popdist::exec {
namespace {

using Ranks = std::vector<RankProgress>;

bool pollAll(Ranks& ranks) {
  bool moved = false;
  for (RankProgress& rank : ranks) moved |= rank.poll();
  return moved;
}

bool allDone(const Ranks& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const RankProgress& rank) { return rank.done(); });
}

std::vector<int> awaitedBy(const Ranks& ranks) {
  std::vector<int> awaited;
  for (const RankProgress& rank : ranks) rank.appendAwaited(awaited);
  std::sort(awaited.begin(), awaited.end());
  awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
  return awaited;
}

std::optional<Failure> findMismatch(const Ranks& ranks) {
  for (const RankProgress& rank : ranks) {
    if (!rank.mismatch()) continue;
    const std::string who = "rank " + std::to_string(rank.mismatchedRank());
    return Failure{.status = pop::failedPrecondition(who + " does not match: " + *rank.mismatch()),
                   .peer_rank = rank.mismatchedRank()};
  }
  return std::nullopt;
}

Failure deadlineFailure(const Ranks& ranks) {
  const std::vector<int> awaited = awaitedBy(ranks);
  std::string who;
  for (const int rank : awaited) who += (who.empty() ? "" : ", ") + std::to_string(rank);
  return {.status = {pop::Code::kDeadlineExceeded,
                     "the deadline has passed, waiting for rank " + who + " (Context::setTimeout)"},
          .peer_rank = awaited.empty() ? -1 : awaited.front()};
}

// What keeps a stalled call from ever ending, if anything does.
std::optional<Failure> findFailure(Ranks& ranks, const Waiting& waiting) {
  if (auto mismatch = findMismatch(ranks)) return mismatch;
  if (waiting.monitor->anyEnded()) {
    // What the ended one sent before its end still counts; only if that changes nothing is it missed.
    if (pollAll(ranks)) return std::nullopt;
    const std::vector<int> awaited = awaitedBy(ranks);
    if (const auto loss = waiting.monitor->loss(awaited))
      return Failure{pop::unavailable(loss->text), loss->instance};
  }
  if (std::chrono::steady_clock::now() >= waiting.deadline) return deadlineFailure(ranks);
  return std::nullopt;
}

}  // namespace

Failure execute(const Call& call, reduce::Kernel kernel, std::span<RankWork> work, const Waiting& waiting) {
  Ranks ranks;
  ranks.reserve(work.size());
  for (const RankWork& each : work) ranks.emplace_back(call, kernel, each);

  Backoff backoff(*waiting.sleeper, waiting.a_core_each);
  while (!allDone(ranks)) {
    if (pollAll(ranks)) {
      backoff.reset();
      continue;
    }
    if (backoff.patient()) {
      if (auto failure = findFailure(ranks, waiting)) {
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
