// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks that share a host's segment: carries out the steps of shared plans. One rank's part;
// the caller's thread does all the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/src/reduce/fold.h"
#include "libpopdist/src/shared/meeting.h"
#include "libpopdist/src/shared/peer_memory.h"
#include "libpopdist/src/shared/write_back.h"

namespace popdist::shared {

/// Written at most into another's memory before the next look whether that is still meant for it.
inline constexpr std::size_t kBetweenLooksBytes = 1 << 20;

class Engine {
 public:
  /// `meeting` of the same ranks outlives it.
  explicit Engine(Meeting& meeting);

  /// Has the memory of all ranks' stages there, so that no call has to wait for it. Once: then it costs
  /// nothing.
  void prepareStages();
  /// By rank: from now on inputs are fetched from private memory, too.
  void setPeers(std::vector<ProcessMark> peers) { peers_ = std::move(peers); }
  /// Finds out where the ranks' pieces are, if any rank offers them. After the meeting, before a plan that
  /// works in all ranks' buffers. False: Meeting::takeFailure() says why.
  bool readPieces(const Call& call);

  struct Work {
    const plan::SharedPlan& plan;
    reduce::FoldSpec fold;        ///< for the steps that reduce
    std::size_t eager_bytes = 0;  ///< of an eager plan: the most that any rank puts into its stage
    bool streaming = false;       ///< copies go past the caches, but for those that write back
    bool more = false;            ///< the call is not over with it: another run() follows
    bool looks = true;            ///< else as Waiter::yieldAtOnce
  };
  /// This rank's steps; with a meeting among them unless there has been one in this call. False: as above.
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
  std::vector<ProcessMark> peers_;  ///< by rank, where all can be read
  bool stages_prepared_ = false;

  // Of all calls so far:
  std::uint64_t chunks_ = 0;
  std::uint64_t settles_ = 0;
  std::size_t ring_at_ = 0;  ///< where the next eager call has its room

  // Of the call that is under way:
  std::optional<std::size_t> room_;  ///< of what is eager, from the beginning of a stage
  ListedPieces listed_;

  // Of the plan that run() carries out:
  Buffers buffers_;
  reduce::FoldSpec spec_;
  bool streaming_ = false;
  bool eager_ = false;

  // Memory that steps use:
  std::vector<const void*> from_;
  std::vector<void*> to_;
  std::vector<std::byte> pulled_;  ///< of others' inputs
};

}  // namespace popdist::shared
