// SPDX-License-Identifier: Apache-2.0
// Which of two algorithms is the faster in this machine's memory, where no table can know: calls
// that are made anyway take turns until it shows. All ranks tell each other what their parts took, so all
// come to the same answer at the same call. Which is taken changes no result. Ranks may have shared a
// core in their first milliseconds, and machines change: so they are asked again, less and less often.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "libpopdist/src/choice/in_memory.h"

namespace popdist::choice {

class Trials {
 public:
  /// Calls that share an answer.
  struct Kind {
    plan::Operation operation = plan::Operation::kAllReduce;
    int log2_bytes = 0;
    bool ragged = false;  ///< then a call moves any part of ranks times its largest bytes
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  static constexpr std::array kAlgorithms{SharedAlgorithm::kStaged, SharedAlgorithm::kPull};
  static constexpr int kOfEach = 5;  ///< at most; the first is not counted: what it needs is not there yet

  /// An answer stands for so many calls of its kind, the next one for four times as many, up to the most.
  static constexpr int kFirstStands = 64;
  static constexpr int kStandsAtMost = 16'384;

  /// For each call of a kind, before all else.
  void called(const Kind& kind);

  /// nullopt: not found out yet.
  std::optional<SharedAlgorithm> answer(const Kind& kind) const;

  /// What this rank tells the others in the next call of the kind: how long its last trial took, in
  /// nanoseconds; 0: there is nothing to tell.
  std::uint64_t ownWord(const Kind& kind) const;
  /// The largest of all ranks' words, in each call of the kind that all have met in.
  void hear(const Kind& kind, std::uint64_t largest_word);
  /// For that call. Afterwards took(), if it went so.
  SharedAlgorithm next(const Kind& kind) const;
  void took(const Kind& kind, SharedAlgorithm algorithm, std::size_t bytes, std::chrono::nanoseconds time);

 private:
  struct Contest {
    std::array<double, kAlgorithms.size()> best_ns_per_byte{};  ///< 0: none counted yet
    std::array<int, kAlgorithms.size()> trials{};
    std::uint64_t own_ns = 0;  ///< of the last one; 0: told
    std::size_t bytes = 0;     ///< likewise
    std::size_t last = 0;      ///< which algorithm that was
    int stands = kFirstStands;
    int calls = 0;  ///< since the answer
  };
  static bool isOver(const Contest& contest);

  std::map<Kind, Contest> contests_;
};

}  // namespace popdist::choice
