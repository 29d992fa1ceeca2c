// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/trials.h"

#include <algorithm>
#include <bit>

namespace popdist::choice {

namespace {

// Pulling must gain more than the noise of measurements.
constexpr double kMinGain = 1.1;
// From this ratio on, one counted trial of pulling is enough. One trial of staged is not: it may have been
// disturbed, and a wrong answer costs more.
constexpr double kClear = 1.5;

// The turns have no period: a program's steps have one, and their tensors differ.
std::size_t turn(int trial) {
  constexpr std::array<std::size_t, 10> kTurns{0, 1, 1, 0, 1, 0, 0, 1, 1, 0};
  return kTurns[static_cast<std::size_t>(trial) % kTurns.size()];
}

}  // namespace

Trials::Kind Trials::Kind::of(const MemoryCall& call) {
  return {call.operation, static_cast<int>(std::bit_width(call.largest_bytes)), call.ragged};
}

bool Trials::isOver(const Contest& contest) {
  if (*std::min_element(contest.trials.begin(), contest.trials.end()) >= kOfEach) return true;
  const auto& [staged, pulled] = contest.best_ns_per_byte;
  return staged > 0 && pulled > kClear * staged;
}

std::optional<SharedAlgorithm> Trials::called(const Kind& kind) {
  Contest& contest = contests_[kind];
  if (isOver(contest) && ++contest.calls > contest.stands)
    contest = Contest{.stands = std::min(4 * contest.stands, kStandsAtMost)};
  return answer(kind);
}

std::optional<SharedAlgorithm> Trials::answer(const Kind& kind) const {
  const auto found = contests_.find(kind);
  if (found == contests_.end() || !isOver(found->second)) return std::nullopt;
  const auto& [staged, pulled] = found->second.best_ns_per_byte;
  return staged > kMinGain * pulled ? SharedAlgorithm::kPull : SharedAlgorithm::kStaged;
}

std::uint64_t Trials::ownWord(const Kind& kind) const {
  const auto found = contests_.find(kind);
  return found == contests_.end() ? 0 : found->second.own_ns;
}

// A call takes as long as its slowest rank; the best call says most about the algorithm.
void Trials::hear(const Kind& kind, std::uint64_t largest_word) {
  Contest& contest = contests_[kind];
  if (largest_word == 0) return;
  contest.own_ns = 0;
  if (contest.trials[contest.last]++ == 0) return;
  const double ns_per_byte = static_cast<double>(largest_word) / static_cast<double>(contest.bytes);
  double& best = contest.best_ns_per_byte[contest.last];
  best = best == 0 ? ns_per_byte : std::min(best, ns_per_byte);
}

SharedAlgorithm Trials::next(const Kind& kind) const {
  if (const std::optional<SharedAlgorithm> known = answer(kind)) return *known;
  const auto found = contests_.find(kind);
  if (found == contests_.end()) return kAlgorithms.front();
  const auto& [staged, pulled] = found->second.trials;
  return kAlgorithms[turn(staged + pulled)];
}

void Trials::took(const Kind& kind, SharedAlgorithm algorithm, std::size_t bytes,
                  std::chrono::nanoseconds time) {
  Contest& contest = contests_[kind];
  contest.last = static_cast<std::size_t>(std::find(kAlgorithms.begin(), kAlgorithms.end(), algorithm) -
                                          kAlgorithms.begin());
  contest.bytes = bytes;
  contest.own_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 1));
}

}  // namespace popdist::choice
