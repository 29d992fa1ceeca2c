// SPDX-License-Identifier: Apache-2.0
// Finds out which of two algorithms is faster in this machine's memory, where no table can know: ordinary
// calls alternate between them until the answer is clear. All ranks exchange their times, so all get the same
// answer at the same call. The choice changes no result. Ranks may have shared a core in their first
// milliseconds, and machines change, so the question is asked again, less and less often.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "libpopdist/collectives/choice/in_memory.h"

namespace popdist::choice {

class Trials {
 public:
  /// A kind of calls, which share an answer.
  struct Kind {
    static Kind of(const MemoryCall& call);

    plan::Operation operation = plan::Operation::kAllReduce;
    int log2_bytes = 0;
    bool ragged = false;  ///< then a call moves any part of ranks times its largest bytes
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  static constexpr std::array kAlgorithms{SharedAlgorithm::kStaged, SharedAlgorithm::kPull};
  static constexpr int kOfEach = 5;  ///< at most; the first is not counted: what it needs is not there yet

  /// Number of calls of its kind for which an answer is valid; the next one for four times as many, up to the
  /// maximum.
  static constexpr int kFirstStands = 64;
  static constexpr int kStandsAtMost = 16'384;

  /// Call it first, for each call of a kind. Returns its answer.
  std::optional<SharedAlgorithm> called(const Kind& kind);

  /// The answer; nullopt: not known yet.
  std::optional<SharedAlgorithm> answer(const Kind& kind) const;

  /// The word that this rank publishes in the next call of the kind: the time of its last trial in
  /// nanoseconds; 0: none.
  std::uint64_t ownWord(const Kind& kind) const;
  /// The largest value that any rank published; in each call of the kind in which all have met.
  void hear(const Kind& kind, std::uint64_t largest_word);
  /// The algorithm for this call. took() follows if it was used.
  SharedAlgorithm next(const Kind& kind) const;
  void took(const Kind& kind, SharedAlgorithm algorithm, std::size_t bytes, std::chrono::nanoseconds time);

 private:
  struct Contest {
    std::array<double, kAlgorithms.size()> best_ns_per_byte{};  ///< 0: none counted yet
    std::array<int, kAlgorithms.size()> trials{};
    std::uint64_t own_ns = 0;  ///< the last one's time; 0: told
    std::size_t bytes = 0;     ///< likewise
    std::size_t last = 0;      ///< which algorithm that was
    int stands = kFirstStands;
    int calls = 0;  ///< since the answer
  };
  static bool isOver(const Contest& contest);

  std::map<Kind, Contest> contests_;
};

}  // namespace popdist::choice
