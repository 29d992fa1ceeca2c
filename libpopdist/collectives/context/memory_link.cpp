// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/memory_link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/contract/segment.h"
#include "common/sys/cores.h"
#include "libpopdist/collectives/messages/transport/tcp/handshake.h"

namespace popdist::context {
namespace {

std::chrono::steady_clock::time_point nextLook() {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  return std::chrono::steady_clock::now() + kBetweenLooks;
}

}  // namespace

std::size_t mappableSegmentBytes(std::size_t instances) {
  return pop::sys::mappableBytes(pop::contract::segmentBytesFor(instances),
                                 pop::contract::shareOfAddressSpace(instances));
}

pop::Result<pop::sys::Mapping> mapSegment(std::size_t bytes) {
  pop::Result<pop::sys::Fd> fd = pop::sys::createMemfd("popdist-segment", bytes);
  return fd.ok() ? pop::sys::mapShared(fd->get(), bytes) : pop::sys::mapAnonymous(bytes);
}

pop::Result<std::shared_ptr<MemoryHub>> MemoryHub::create(int instances, std::size_t segment_bytes) {
  POP_ASSIGN_OR_RETURN(pop::sys::Mapping mapping, mapSegment(segment_bytes));
  std::shared_ptr<MemoryHub> hub(new MemoryHub(instances));
  hub->segment_ = std::move(mapping);
  pop::contract::initialiseSegment(hub->segment_.data(), segment_bytes,
                                   static_cast<std::uint32_t>(instances));
  const transport::Nonce key = transport::randomNonce();
  hub->network_ = {std::string(reinterpret_cast<const char*>(key.data()), key.size()), "127.0.0.1"};
  POP_ASSIGN_OR_RETURN(const std::vector<int> cores, pop::sys::usableCores());
  hub->host_cores_ = static_cast<int>(cores.size());
  return hub;
}

void MemoryHub::end(int instance, bool clean, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!first_end_) first_end_ = LinkError{pop::unavailable(text), instance};
  auto* header = reinterpret_cast<pop::contract::SegmentHeader*>(segment_.data());
  pop::contract::publishEndNotice(header, ended_++, instance, clean, text);
  changed_.notify_all();
}

LinkError MemoryLink::put(const std::string& key, const std::string& value, std::chrono::milliseconds) {
  const std::lock_guard lock(hub_->mutex_);
  hub_->staged_.insert_or_assign(key, value);
  return {};
}

LinkError MemoryLink::get(const std::string& key, std::chrono::milliseconds,
                          std::optional<std::string>& value) {
  const std::lock_guard lock(hub_->mutex_);
  const auto found = hub_->released_.find(key);
  value = found == hub_->released_.end() ? std::nullopt : std::optional(found->second);
  return {};
}

LinkError MemoryLink::getAll(const std::string& prefix, std::chrono::milliseconds, Values& values) {
  const std::lock_guard lock(hub_->mutex_);
  values = hub_->released_;
  std::erase_if(values, [&](const auto& each) { return !each.first.starts_with(prefix); });
  return {};
}

LinkError MemoryLink::fence(const std::string& tag, std::chrono::milliseconds timeout,
                            const Meanwhile& meanwhile) {
  std::unique_lock lock(hub_->mutex_);
  if (hub_->first_end_) return *hub_->first_end_;
  const std::uint64_t mine = hub_->fences_released_;
  if (hub_->inside_ == 0) hub_->purpose_ = std::make_shared<MemoryHub::Purpose>(MemoryHub::Purpose{tag, {}});
  const std::shared_ptr<MemoryHub::Purpose> purpose = hub_->purpose_;
  if (tag != purpose->tag) {
    purpose->answer = {
        pop::failedPrecondition("one instance is in '" + purpose->tag + "', another in '" + tag + "'")};
    hub_->changed_.notify_all();
  }
  if (++hub_->inside_ == hub_->instances_) {
    if (purpose->answer.ok())
      for (auto& [key, value] : std::exchange(hub_->staged_, {}))
        hub_->released_.insert_or_assign(key, value);
    hub_->inside_ = 0;
    ++hub_->fences_released_;
    hub_->changed_.notify_all();
    return purpose->answer;
  }
  const auto is_open = [&] {
    return hub_->fences_released_ != mine || !purpose->answer.ok() || hub_->first_end_.has_value();
  };
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!hub_->changed_.wait_until(lock, std::min(deadline, nextLook()), is_open)) {
    if (std::chrono::steady_clock::now() >= deadline) {
      --hub_->inside_;
      return {{pop::Code::kDeadlineExceeded, "not every instance entered the fence before the deadline"}};
    }
    lock.unlock();
    if (meanwhile) meanwhile();
    lock.lock();
  }
  // Later callers find the answer, too: this one stays counted.
  if (hub_->fences_released_ != mine || !purpose->answer.ok()) return purpose->answer;
  --hub_->inside_;
  return *hub_->first_end_;
}

}  // namespace popdist::context
