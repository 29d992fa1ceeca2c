// SPDX-License-Identifier: Apache-2.0
// Chooses how the collectives of ranks that share memory are carried out: by what is forced, otherwise by the
// table (in_memory.h), otherwise by trials, which are ordinary calls. Where the choice depends on the ranks'
// buffers, the ranks meet first, so that all choose the same.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/collectives/choice/in_memory.h"
#include "libpopdist/collectives/choice/reading_probe.h"
#include "libpopdist/collectives/choice/trials.h"
#include "libpopdist/collectives/plan/shared_plan.h"
#include "libpopdist/collectives/shared/engine.h"

namespace popdist::choice {

/// Arguments of the choice; the same on all ranks.
struct MemoryCall {
  plan::Operation operation = plan::Operation::kAllReduce;
  std::size_t largest_bytes = 0;  ///< bytes that one rank puts into its stage in an eager call
  int root = 0;
  bool ragged = false;
};

struct PlanChoice {
  SharedAlgorithm algorithm = SharedAlgorithm::kStaged;
  plan::EagerOrder order = plan::EagerOrder::kOnly;  ///< eager plans: when this rank exports
  bool gives = false;                                ///< direct plans: see directMove()
};

class MemoryChoice {
 public:
  /// `forced` replaces the table's choice and trials where the algorithm supports the call. `meeting`, and
  /// `engine`, which uses it, outlive this object.
  MemoryChoice(shared::Meeting& meeting, shared::Engine& engine, std::optional<SharedAlgorithm> forced)
      : meeting_(meeting), engine_(engine), forced_(forced), reading_(meeting, engine) {}

  /// Call it first, once per call: whether ranks may read this call's private buffers. nullopt: the meeting
  /// failed.
  std::optional<bool> canPull(const MemoryCall& call, const shared::Call& shared);

  struct Chosen {
    PlanChoice plan;
    std::optional<Trials::Kind> trial{};  ///< took() must follow
  };
  /// Call it next, with the result of canPull() and this rank's offers. nullopt: the meeting failed.
  std::optional<Chosen> choose(const MemoryCall& call, const shared::Call& shared,
                               const shared::Buffers& buffers, bool pulls);
  /// Reports how long the chosen plan took.
  void took(const Chosen& chosen, std::size_t bytes, std::chrono::nanoseconds time);

  // For sendRecv, whose sizes only the partners know:

  /// The choice for `bytes` that one rank sends, from memory that all can read or not. Sender and receivers
  /// choose the same. A large transfer that could be direct is staged if another one must be.
  SharedAlgorithm transfer(std::size_t bytes, bool mapped) const;
  /// The most bytes of an eager transfer.
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
