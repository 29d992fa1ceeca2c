// SPDX-License-Identifier: Apache-2.0
// Chooses how the collectives of ranks that share memory are carried out: by what is forced, otherwise by one
// table, otherwise by trials (trials.h). A pure function of what the ranks know. Where that includes the
// other ranks' buffers, the caller lets the ranks exchange offers first, so that all
// choose the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "libpopdist/collectives/plan/operation.h"
#include "libpopdist/collectives/plan/shared_plan.h"

namespace popdist::choice {

enum class SharedAlgorithm : std::uint8_t {
  kEager,   ///< all data into the stages at once, one wait
  kStaged,  ///< through the stages, chunk by chunk
  kDirect,  ///< from and to the users' buffers, which all must be in the segment
  kPull,    ///< straight from the users' buffers, read by the system where they are not in the segment
};

/// "eager", "staged", "direct", "pull".
const char* nameOf(SharedAlgorithm algorithm);
std::optional<SharedAlgorithm> sharedAlgorithmNamed(const char* name);

/// Facts of a communicator; the same on all its ranks.
struct MemorySetting {
  int ranks = 1;
  std::size_t eager_bytes = 0;              ///< the most that a rank can put into its stage in an eager call
  bool readers_write_back = false;          ///< shared/write_back.h
  std::optional<SharedAlgorithm> forced{};  ///< replaces the table's choice and trials where the algorithm
                                            ///< supports the call
};

/// Facts of a call; the same on all ranks.
struct MemoryCall {
  plan::Operation operation = plan::Operation::kAllReduce;
  std::size_t largest_bytes = 0;  ///< bytes that one rank puts into its stage in an eager call
  int root = 0;
  bool ragged = false;
};

struct RankOffer {
  plan::Offer offer = plan::Offer::kNo;
  bool can_be_given = false;  ///< other ranks can write to its output
};

/// The facts that a rank has of all ranks' buffers.
struct Offers {
  plan::Offer own = plan::Offer::kNo;
  bool pulls = false;  ///< ranks can read each other's private memory, and may gain by it; the same on all
  std::optional<SharedAlgorithm> turn{};  ///< with trials: whose turn it is; the same on all
  std::span<const RankOffer> all{};       ///< by rank; empty unless dependsOnOffers()
};

struct PlanChoice {
  SharedAlgorithm algorithm = SharedAlgorithm::kStaged;
  plan::EagerOrder order = plan::EagerOrder::kOnly;  ///< eager plans: when this rank exports
  bool gives = false;                                ///< direct plans: see directMove()
  bool is_trial = false;                             ///< Trials::took() must follow

  friend bool operator==(const PlanChoice&, const PlanChoice&) = default;
};

class MemoryChoice {
 public:
  explicit MemoryChoice(const MemorySetting& setting) : setting_(setting) {}

  /// The better algorithm for private memory that all ranks can read, kPull or kStaged. nullopt: the machine
  /// decides, so trials must find it out. Staged moves twice as often what a core has written, which costs
  /// another core little or a lot; pull costs the kernel's work for each page.
  std::optional<SharedAlgorithm> betterForReadable(const MemoryCall& call) const;
  /// True if this rank needs all ranks' offers, by `own` and `pulls`. Ranks may differ in that: one whose
  /// buffers are private knows that the call goes through the stages.
  bool dependsOnOffers(const MemoryCall& call, const Offers& offers) const;
  /// All ranks choose the same algorithm, also those that do not know all offers.
  PlanChoice choose(const MemoryCall& call, const Offers& offers) const;

  // For sendRecv, whose sizes only the partners know:

  /// The choice for `bytes` that one rank sends, from memory that all can read or not. Sender and receivers
  /// choose the same. A large transfer that could be direct is staged if another one must be.
  SharedAlgorithm transfer(std::size_t bytes, bool mapped) const;
  /// The most bytes of an eager transfer.
  std::size_t eagerTransferBytes() const;
  /// True if pull is faster than staged, where it is possible.
  bool isTransferWorthPulling(std::size_t largest_bytes) const;

 private:
  std::optional<SharedAlgorithm> forcedFor(const MemoryCall& call) const;
  bool mayBeDirect(const MemoryCall& call) const;
  SharedAlgorithm throughStages(const MemoryCall& call) const;

  const MemorySetting setting_;
};

/// True if ranks that share cores spin for a moment before they yield. Not where one rank has what the others
/// wait for and the next call's data may be there before they have read it: the ranks would run in lockstep.
constexpr bool looksBeforeGivingWay(plan::Operation operation, SharedAlgorithm algorithm) {
  return operation != plan::Operation::kBroadcast || algorithm != SharedAlgorithm::kStaged;
}

/// True if copies for `bytes` per rank should bypass the caches.
bool pastCaches(plan::Operation operation, std::size_t bytes, int ranks);

}  // namespace popdist::choice
