// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/host_segment.h"

#include <algorithm>
#include <utility>

#include "common/sys/futex.h"

namespace pop::agent {
namespace {

constexpr std::size_t kLeastPieceBytes = 16 << 20;  // for one small communicator

}  // namespace

Status HostSegment::create(int instances, bool reports_wanted, std::size_t most_bytes) {
  instances_ = static_cast<std::uint32_t>(instances);
  bytes_ = std::max(std::min(contract::segmentBytesFor(instances_), most_bytes),
                    contract::controlBlockBytesFor(instances_) + kLeastPieceBytes);
  POP_ASSIGN_OR_RETURN(sys::Fd fd, sys::createMemfd("popdist-segment", bytes_));
  POP_ASSIGN_OR_RETURN(mapping_, sys::mapShared(fd.get(), contract::controlBlockBytesFor(instances_)));
  fd_ = std::move(fd);
  contract::initialiseSegment(mapping_.data(), bytes_, instances_)
      ->reports_wanted.store(reports_wanted ? 1 : 0, std::memory_order_relaxed);
  return {};
}

// Written before any slot is read: an instance that enters looks for end notices once its entry can be seen
// here.
void HostSegment::publish(std::uint32_t index, const EndNotice& end_notice) {
  contract::publishEndNotice(header(), index, end_notice.instance, end_notice.clean, end_notice.text);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

contract::FenceSlot& HostSegment::slot(int instance) const {
  return contract::fenceSlotsOf(header(), instances_)[static_cast<std::size_t>(instance)];
}

std::uint32_t HostSegment::lastEntry(int instance) const {
  return slot(instance).entered.load(std::memory_order_seq_cst);
}

std::optional<HostSegment::Entry> HostSegment::entryAfter(std::uint32_t answered, int instance) const {
  const std::uint32_t entered = lastEntry(instance);
  if (entered == answered || slot(instance).by_message != 0) return std::nullopt;
  return Entry{entered, contract::tagOf(slot(instance))};
}

void HostSegment::answer(int instance, std::uint32_t entry, bool failed) {
  slot(instance).failed.store(failed ? 1 : 0, std::memory_order_relaxed);
  slot(instance).answered.store(entry, std::memory_order_release);
}

std::vector<contract::ReadReport> HostSegment::reportsOf(int instance) const {
  return contract::readReports(
      contract::reportPagesOf(header(), instances_)[static_cast<std::size_t>(instance)]);
}

void HostSegment::wakeWaiters() {
  header()->fence_answers.store(++answers_, std::memory_order_seq_cst);
  sys::futexWakeAll(header()->fence_answers);
}

}  // namespace pop::agent
