// SPDX-License-Identifier: Apache-2.0
// Chooses how the collectives of ranks that share memory are carried out: by what is forced, else by the
// table (in_memory.h), else by trials, which the calls themselves are. Where it depends on the ranks' buffers
// they meet first, so that all choose the same.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/src/choice/in_memory.h"
#include "libpopdist/src/choice/reading_probe.h"
#include "libpopdist/src/choice/trials.h"
#include "libpopdist/src/plan/shared_plan.h"
#include "libpopdist/src/shared/engine.h"

namespace popdist::choice {

/// What the choice depends on: the same on all ranks.
struct MemoryCall {
  plan::Operation operation = plan::Operation::kAllReduce;
  std::size_t largest_bytes = 0;  ///< that one rank puts into its stage if all goes at once
  int root = 0;
  bool ragged = false;
};

struct PlanChoice {
  SharedAlgorithm algorithm = SharedAlgorithm::kStaged;
  plan::EagerOrder order = plan::EagerOrder::kOnly;  ///< of an eager one
  bool gives = false;                                ///< of a direct one: as directMove
};

class MemoryChoice {
 public:
  /// `forced`: instead of what the table says or calls find out, where it can be done. `meeting` and
  /// `engine`, which uses it, outlive this.
  MemoryChoice(shared::Meeting& meeting, shared::Engine& engine, std::optional<SharedAlgorithm> forced)
      : meeting_(meeting), engine_(engine), forced_(forced), reading_(meeting, engine) {}

  /// First, once for each call: whether others may read this call's private buffers. nullopt: the meeting has
  /// failed.
  std::optional<bool> canPull(const MemoryCall& call, const shared::Call& shared);

  struct Chosen {
    PlanChoice plan;
    std::optional<Trials::Kind> trial{};  ///< then took() follows
  };
  /// Then, with what canPull() said and with what this rank offers. nullopt: the meeting has failed.
  std::optional<Chosen> choose(const MemoryCall& call, const shared::Call& shared,
                               const shared::Buffers& buffers, bool pulls);
  /// How long the plan took that was chosen.
  void took(const Chosen& chosen, std::size_t bytes, std::chrono::nanoseconds time);

  // Of sendRecv, which only the partners know the sizes of:

  /// Of `bytes` that one rank sends from memory that all can read, or not. Whoever receives it, or waits for
  /// it, comes to the same answer. A large transfer that is direct goes staged all the same where another
  /// must.
  SharedAlgorithm transfer(std::size_t bytes, bool mapped) const;
  /// What a transfer that goes at once may have at most.
  std::size_t eagerTransferBytes() const;
  bool isTransferWorthPulling(std::size_t largest_bytes) const;
  ReadingProbe& reading() { return reading_; }

 private:
  static Trials::Kind kindOf(const MemoryCall& call);
  bool findsOut(const MemoryCall& call) const;
  std::optional<Trials::Kind> contestOf(const MemoryCall& call) const;
  void hear(const Trials::Kind& kind);
  bool everyReceiverCanBeGiven(const MemoryCall& call) const;

  int ranks() const { return meeting_.place().ranks; }
  std::size_t eagerBytes() const { return meeting_.place().layout.eager_bytes; }

  shared::Meeting& meeting_;
  shared::Engine& engine_;
  const std::optional<SharedAlgorithm> forced_;
  ReadingProbe reading_;
  Trials trials_;
};

}  // namespace popdist::choice
