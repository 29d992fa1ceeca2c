// SPDX-License-Identifier: Apache-2.0
// Runs the shared plans of all ranks in one thread, in a random order of their steps, on real bytes.
//
// Every byte remembers who touched it last, and every rank what it knows of the others (a vector clock,
// passed on by kMeet and by kPost → kAwait alone). Two ranks that touch the same byte, one of them writing,
// without that the second knows of the first, are an error, in whatever order the steps happened to run: what
// is shown for one order holds for all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/plan/shared_plan.h"
#include "libpopdist/collectives/plan/stage_layout.h"

namespace popdist::plan {

/// Bytes are reduced by a function that is neither commutative nor associative: the order shows.
inline std::uint8_t mixed(std::uint8_t before, std::uint8_t next) {
  return static_cast<std::uint8_t>(before * 31 + next + 1);
}

/// What one rank brings into a call.
struct SharedPart {
  SharedPlan plan;
  std::vector<std::uint8_t> input;
  std::vector<std::uint8_t> output;  ///< as it is before the call
  std::size_t eager_bytes = 0;       ///< of an eager plan: what any rank exports, at most
  std::optional<std::size_t>
      in_place_at{};  ///< the input is not memory of its own but lies there in the output
};

/// Parts by rank.
using SharedCallParts = std::vector<SharedPart>;

class SharedPlanSimulator {
 public:
  SharedPlanSimulator(int ranks, const StageLayout& layout, std::uint64_t seed);

  /// Runs the calls one after the other. Each rank starts the next when it has finished one, whatever the
  /// others do; it then overwrites its buffers, as a caller may. Empty, or what went wrong.
  /// outputs[call][rank] are there then.
  std::string run(const std::vector<SharedCallParts>& calls);
  const std::vector<std::vector<std::vector<std::uint8_t>>>& outputs() const { return outputs_; }

 private:
  using Clock = std::vector<std::uint64_t>;

  static constexpr std::size_t kBlockBytes = 256;
  struct Byte {
    int writer = -1;
    std::uint64_t written = 0;
    bool read = false;  ///< since then
  };
  struct Block {
    std::array<Byte, kBlockBytes> history;
    Clock reads;  ///< of each byte, by each rank: its last
  };
  /// Memory that several ranks can touch.
  struct Region {
    std::string name;
    std::vector<std::uint8_t> bytes;
    /// Of kBlockBytes bytes each, made when they are touched first: a stage is large, and most of it never
    /// is.
    std::vector<std::unique_ptr<Block>> blocks;
  };
  struct Post {
    std::uint64_t value = 0;
    Clock clock;
  };
  struct Rank {
    std::size_t call = 0;
    std::size_t step = 0;
    bool begun = false;
    std::uint64_t chunks = 0;
    std::size_t ring_at = 0;   ///< where the next eager call has its room
    std::size_t eager_at = 0;  ///< this call's
    Clock clock;
    std::vector<Clock> met;  ///< of each call
    std::array<std::vector<Post>, 3> posts;
    Region stage;
    Region input;
    Region output;
  };

  bool tryAdvance(int rank);
  void begin(int rank);
  void finish(int rank);
  bool tryStep(int rank, const SharedStep& step);
  bool tryMeet(int rank);
  bool tryAwait(int rank, const SharedStep& step);
  void post(int rank, const SharedStep& step);
  void fold(int rank, const SharedStep& step);
  void move(int rank, Region& to, std::size_t to_offset, Region& from, std::size_t from_offset,
            std::size_t bytes);

  std::vector<std::uint8_t> read(int rank, Region& region, std::size_t offset, std::size_t bytes);
  void write(int rank, Region& region, std::size_t offset, const std::vector<std::uint8_t>& bytes);
  bool inside(int rank, const Region& region, std::size_t offset, std::size_t bytes);
  void learn(int rank, const Clock& clock);
  bool knows(int rank, int other, std::uint64_t when) const;
  void grow(Region& region, std::size_t bytes) const;
  std::pair<Byte&, std::span<std::uint64_t>> historyOf(Region& region, std::size_t at) const;
  /// Where a rank's input is, with what is to be added to offsets.
  std::pair<Region*, std::size_t> inputOf(int rank);
  /// Where `step` of rank `reader` finds its bytes in a stage.
  std::size_t stageOffset(int reader, const SharedStep& step) const;
  void takeRoom(Rank& rank, const SharedPart& part) const;
  const SharedPart& partOf(int rank) const;
  void fail(int rank, const std::string& what);
  void describeDeadlock();

  const std::size_t ranks_count_;
  const StageLayout layout_;
  pop::SplitMix64 random_;
  const std::vector<SharedCallParts>* calls_ = nullptr;
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::vector<std::uint8_t>>> outputs_;
  std::string error_;
};

}  // namespace popdist::plan
