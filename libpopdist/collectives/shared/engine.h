// SPDX-License-Identifier: Apache-2.0
// Runs collectives of ranks that share a host's segment: it carries out one rank's steps of a shared plan.
// The caller's thread does all the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/shared/meeting.h"
#include "libpopdist/collectives/shared/peer_memory.h"
#include "libpopdist/collectives/shared/write_back.h"
#include "libpopdist/internal/fold.h"

namespace popdist::shared {

/// The most that is written to another rank's memory between two checks that this rank has not aborted.
inline constexpr std::size_t kBetweenLooksBytes = 1 << 20;

class Engine {
 public:
  /// `meeting` belongs to the same ranks and outlives the engine.
  explicit Engine(Meeting& meeting);

  /// Makes the pages of all ranks' stages, so that no call has to wait for them. Costs nothing from the
  /// second call on.
  void prepareStages();
  /// `peers[r]` identifies the process of rank r. From now on inputs can be fetched from private memory too.
  void setPeers(std::vector<ProcessMark> peers) { peers_ = std::move(peers); }
  /// Finds out where the ranks' pieces are, if any rank offers some. Call it after the meeting and before a
  /// plan that works in all ranks' buffers. False: see Meeting::takeFailure().
  bool readPieces(const Call& call);

  struct Work {
    const plan::SharedPlan& plan;
    reduce::FoldSpec fold;        ///< the fold of the reducing steps
    std::size_t eager_bytes = 0;  ///< eager plans: the most that any rank puts into its stage
    bool streaming = false;       ///< copies bypass the caches, except those that write back
    bool more = false;            ///< another run() of the same call follows
    bool looks = true;            ///< false: as Waiter::yieldAtOnce()
  };
  /// Carries out this rank's steps. Meets the other ranks on the way unless they have met in this call.
  /// False: see Meeting::takeFailure().
  bool run(const Call& call, const Buffers& buffers, const Work& work);

 private:
  const Place& place() const { return meeting_.place(); }
  Waiter& waiter() { return meeting_.waiter(); }
  bool step(const plan::SharedStep& step);
  void post(plan::Counter counter, std::uint64_t value);
  bool await(plan::Counter counter, std::int64_t value);
  bool settle();
  void takeFromStage(int rank, std::byte* to, std::byte* stage, std::size_t bytes) const;
  template <typename Write>
  bool inOthersMemory(const plan::SharedStep& step, const Write& write);
  bool fetch(const plan::SharedStep& step);
  bool take(const plan::SharedStep& step);
  bool pull(int rank, std::uint64_t address, std::byte* to, std::size_t bytes);
  bool allInputsMapped() const;
  bool foldPulled(const plan::SharedStep& step);
  void takeRoom(std::size_t bytes);
  std::byte* stageOf(int rank, const plan::SharedStep& step) const;
  void fold(const plan::SharedStep& step);
  void foldRun(const plan::SharedStep& step, const std::byte* input, std::byte* output);
  void foldListed(const plan::SharedStep& step);
  template <typename Byte, typename Visit>
  void inOwnMemory(Byte* buffer, std::size_t offset, std::size_t bytes, const Visit& visit) const;
  void copy(void* to, const void* from, std::size_t bytes) const;
  const std::byte* inputOf(int rank) const;
  std::byte* outputOf(int rank) const;

  Meeting& meeting_;
  const bool writes_back_ = kMayWriteBack && writingBackPays();
  std::vector<ProcessMark> peers_;  ///< by rank; empty unless all can be read
  bool stages_prepared_ = false;

  // Over all calls so far:
  std::uint64_t chunks_ = 0;
  std::uint64_t settles_ = 0;
  std::size_t ring_at_ = 0;  ///< start of the next eager call's room

  // For the call in progress:
  std::optional<std::size_t> room_;  ///< eager calls: offset of the room in each stage
  ListedPieces listed_;

  // For the plan that run() carries out:
  Buffers buffers_;
  reduce::FoldSpec spec_;
  bool streaming_ = false;
  bool eager_ = false;

  // Working memory of the steps:
  std::vector<const void*> from_;
  std::vector<void*> to_;
  std::vector<std::byte> pulled_;  ///< pieces of other ranks' inputs
};

}  // namespace popdist::shared
