// SPDX-License-Identifier: Apache-2.0
// The shared-memory segment that all instances of a host map. The agent creates it and writes the end
// notices; the instances enter fences through their slots, report values in their pages, and take pieces of
// the rest for their channels. It is sparse: only touched pages cost memory.
//
//   SegmentHeader | EndNotice[instances of the job] | FenceSlot[instances of the job] |
//   ReportPage[instances of the job] | Station[kStationsOfInstance of each instance of the job] |
//   pieces handed out by takePiece …
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

#include "common/contract/fence_slots.h"
#include "common/contract/report_page.h"
#include "common/contract/station.h"

namespace pop::contract {

inline constexpr std::uint32_t kSegmentMagic = 0x706f7031;  // "pop1"
inline constexpr std::size_t kPieceAlignmentBytes = 4096;

/// Room for the channels of all instances of a job, and for communicators that they create. Nearly all of it
/// is never touched, and so costs nothing.
constexpr std::size_t segmentBytesFor(std::size_t instances) {
  return (std::size_t{64} << 30) + instances * instances * (std::size_t{16} << 10);
}

/// Share of a process's permitted address space (`ulimit -v`) that its segment takes: a half, or a
/// quarter where no other instance needs it.
constexpr std::size_t shareOfAddressSpace(std::size_t instances) {
  return instances > 1 ? 2 : 4;
}

/// The end notice of one instance. The agent writes it before `end_notice_count` makes it visible, and never
/// changes it afterwards.
struct EndNotice {
  std::int32_t instance = -1;
  std::uint32_t clean = 0;  ///< it exited with code 0
  char text[120] = {};      ///< "instance 2 (pid 712) was killed by SIGKILL"
};

struct SegmentHeader {
  std::uint32_t magic = kSegmentMagic;
  std::uint32_t instances = 0;  ///< of the whole job: also the number of end notices and of fence slots
  std::uint64_t bytes = 0;      ///< size of the whole segment
  alignas(64) std::atomic<std::uint64_t> next_free{0};  ///< byte offset of the first piece not yet taken
  alignas(64) std::atomic<std::uint32_t> end_notice_count{
      0};  ///< read in every wait: alone on its cache line
  /// Changes whenever the agent has answered entries in slots; instances that wait for an answer sleep on it.
  alignas(64) std::atomic<std::uint32_t> fence_answers{0};
  /// 1: a client reads the instances' reports. The agent writes it before an instance sees the segment.
  alignas(64) std::atomic<std::uint32_t> reports_wanted{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "processes share these atomics");

inline std::size_t alignPiece(std::size_t bytes) {
  return (bytes + kPieceAlignmentBytes - 1) / kPieceAlignmentBytes * kPieceAlignmentBytes;
}

inline EndNotice* endNoticesOf(SegmentHeader* header) {
  return reinterpret_cast<EndNotice*>(header + 1);
}

/// Size of the segment for a job of `instances`.
inline std::span<FenceSlot> fenceSlotsOf(SegmentHeader* header, std::size_t instances) {
  return {reinterpret_cast<FenceSlot*>(endNoticesOf(header) + instances), instances};
}

inline std::span<ReportPage> reportPagesOf(SegmentHeader* header, std::size_t instances) {
  return {reinterpret_cast<ReportPage*>(fenceSlotsOf(header, instances).data() + instances), instances};
}

/// Those of each instance follow those of the one before.
inline std::span<Station> stationsOf(SegmentHeader* header, std::size_t instances) {
  return {reinterpret_cast<Station*>(reportPagesOf(header, instances).data() + instances),
          kStationsOfInstance * instances};
}

/// Size of the part before the pieces, for a job of `instances`: the part that the agent needs.
inline std::size_t controlBlockBytesFor(std::size_t instances) {
  return alignPiece(sizeof(SegmentHeader) +
                    instances * (sizeof(EndNotice) + sizeof(FenceSlot) + sizeof(ReportPage) +
                                 kStationsOfInstance * sizeof(Station)));
}

/// Sets up a fresh, zeroed segment of `bytes` at `memory` for a job of `instances`.
inline SegmentHeader* initialiseSegment(void* memory, std::size_t bytes, std::uint32_t instances) {
  auto* header = new (memory) SegmentHeader();
  header->instances = instances;
  header->bytes = bytes;
  header->next_free.store(controlBlockBytesFor(instances));
  return header;
}

/// Returns the byte offset of a new zeroed piece of `bytes`, or 0 if the segment is full. Any instance may
/// call it at any time.
inline std::size_t takePiece(SegmentHeader* header, std::size_t bytes) {
  // Read once: any instance can overwrite the segment.
  const std::uint64_t whole = std::atomic_ref(header->bytes).load(std::memory_order_relaxed);
  std::uint64_t offset = header->next_free.load(std::memory_order_relaxed);
  do {
    if (offset > whole || bytes > whole - offset) return 0;
  } while (!header->next_free.compare_exchange_weak(offset, offset + alignPiece(bytes),
                                                    std::memory_order_relaxed));
  return offset;
}

/// Tells every instance of this host that `instance` has ended, as end notice number `index`. Only the agent
/// calls it. The agent keeps the count itself, because any instance can overwrite the segment.
inline void publishEndNotice(SegmentHeader* header, std::uint32_t index, int instance, bool clean,
                             std::string_view text) {
  EndNotice& end_notice = endNoticesOf(header)[index];
  end_notice.instance = instance;
  end_notice.clean = clean ? 1 : 0;
  const std::size_t length = std::min(text.size(), sizeof(end_notice.text) - 1);
  std::memcpy(end_notice.text, text.data(), length);
  end_notice.text[length] = '\0';
  header->end_notice_count.store(index + 1, std::memory_order_release);
}

}  // namespace pop::contract
