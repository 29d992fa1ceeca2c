// SPDX-License-Identifier: Apache-2.0
// The control block: what the ranks of a communicator share in their host's segment. It holds a futex word,
// the abort flag, two call slots and the progress counters of each rank, and the stages. All-zero memory is
// ready for use. Each rank writes only its own parts (and others' stages), and reads all.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libpopdist/collectives/messages/transport/shm/shm_group.h"
#include "libpopdist/collectives/plan/shared_plan.h"

namespace popdist::shared {

/// Two cache lines: processors fetch them in pairs.
inline constexpr std::size_t kApartBytes = 128;

using plan::Offer;
using transport::kPrivate;

inline constexpr std::size_t kInlineBytes = 40;
inline constexpr std::size_t kTensorBytes = 24;

/// A call slot: what a rank publishes about its current call. Each rank has two and uses them in turn, since
/// no rank is more than one call ahead. The first cache line is all that a small call needs.
struct alignas(kApartBytes) CallSlot {
  std::atomic<std::uint64_t> call{0};  ///< number of the call, from 1 on; written last
  std::uint64_t key = 0;               ///< CallKey::packed; equal on all ranks
  std::uint64_t count = 0;             ///< elements; equal on all ranks
  std::array<std::byte, kInlineBytes> data{};
  std::uint64_t input = kPrivate;  ///< offset in the segment; with Offer::kPieces, of their table
  std::uint64_t output = kPrivate;
  Offer offer = Offer::kNo;
  std::array<char, kTensorBytes> tensor{};  ///< name of the tensor, truncated
  std::uint64_t input_address = 0;          ///< address of the input in the rank's process
  std::uint64_t output_address = 0;         ///< likewise
};
static_assert(sizeof(CallSlot) == kApartBytes && offsetof(CallSlot, input) == 64);

struct alignas(kApartBytes) Progress {
  std::array<std::atomic<std::uint64_t>, 4> counters{};  ///< indexed by plan::Counter
  std::atomic<std::uint32_t> waits_on{0};  ///< core on which the rank waits, from 1 on; 0: it does not wait
  std::atomic<std::uint32_t> runs_on{
      0};  ///< for ranks that share cores: core on which it waited last, from 1 on
};

/// The futex word on which ranks sleep. Waking costs one load if no rank sleeps.
struct alignas(kApartBytes) FutexWord {
  std::atomic<std::uint32_t> wake_count{0};
  std::atomic<std::uint32_t> num_sleeping{0};
};

/// The abort flag: why a rank aborted the call.
struct alignas(kApartBytes) AbortFlag {
  std::atomic<std::uint32_t> raised{0};  ///< 1: being written, 2: written
  std::int32_t rank = -1;
  std::int32_t instance = -1;     ///< instance that caused it; -1: none
  std::int32_t blamed_rank = -1;  ///< likewise
  std::int32_t code = 0;
  std::uint32_t heard = 0;  ///< 1: reported by another rank, which `text` names
  std::array<char, 488> text{};
};

class ControlBlock {
 public:
  ControlBlock() = default;
  ControlBlock(std::byte* memory, int ranks, std::size_t stage_bytes)
      : memory_(memory), ranks_(static_cast<std::size_t>(ranks)), stage_bytes_(stage_bytes) {}

  static std::size_t bytesFor(int ranks, std::size_t stage_bytes) {
    const auto n = static_cast<std::size_t>(ranks);
    return kCallSlotsAt + n * (2 * sizeof(CallSlot) + sizeof(Progress) + stage_bytes) + kPageBytes;
  }

  FutexWord& futexWord() const { return *reinterpret_cast<FutexWord*>(memory_); }
  AbortFlag& abortFlag() const { return *reinterpret_cast<AbortFlag*>(memory_ + sizeof(FutexWord)); }
  /// `parity` is that of the call's number.
  CallSlot& callSlot(int rank, std::uint64_t parity) const {
    return reinterpret_cast<CallSlot*>(memory_ +
                                       kCallSlotsAt)[parity * ranks_ + static_cast<std::size_t>(rank)];
  }
  std::atomic<std::uint64_t>& counter(int rank, plan::Counter counter) const {
    return progress(rank).counters[static_cast<std::size_t>(counter)];
  }
  std::atomic<std::uint32_t>& waitsOn(int rank) const { return progress(rank).waits_on; }
  std::atomic<std::uint32_t>& runsOn(int rank) const { return progress(rank).runs_on; }
  std::byte* stage(int rank) const {
    const std::size_t head = kCallSlotsAt + ranks_ * (2 * sizeof(CallSlot) + sizeof(Progress));
    const std::size_t begin = (head + kPageBytes - 1) / kPageBytes * kPageBytes;
    return memory_ + begin + static_cast<std::size_t>(rank) * stage_bytes_;
  }

 private:
  Progress& progress(int rank) const {
    auto* const all = reinterpret_cast<Progress*>(memory_ + kCallSlotsAt + 2 * ranks_ * sizeof(CallSlot));
    return all[static_cast<std::size_t>(rank)];
  }

  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kCallSlotsAt = sizeof(FutexWord) + sizeof(AbortFlag);

  std::byte* memory_ = nullptr;
  std::size_t ranks_ = 0;
  std::size_t stage_bytes_ = 0;
};

}  // namespace popdist::shared
