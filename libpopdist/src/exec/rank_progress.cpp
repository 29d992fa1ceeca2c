// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/exec/rank_progress.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/check.h"

namespace popdist::exec {
namespace {

using plan::StepKind;

struct alignas(transport::kMessageAlignmentBytes) Header {
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t message_bytes = 0;
  std::uint32_t operation = 0;
  std::uint32_t type = 0;

  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) == transport::kMessageAlignmentBytes);

Header headerOf(const Call& call, std::size_t message_bytes) {
  return {call.sequence, call.count, message_bytes, call.operation, static_cast<std::uint32_t>(call.type)};
}

std::string elements(std::uint64_t count, std::uint32_t type) {
  return std::to_string(count) + " x " + nameOf(static_cast<Type>(type));
}

std::string describeMismatch(const Header& mine, const Header& theirs, const char* name) {
  if (mine.sequence != theirs.sequence) {
    return "the ranks have not made the same calls: this is call " + std::to_string(mine.sequence) +
           " here and call " + std::to_string(theirs.sequence) + " there";
  }
  if ((mine.operation & kOperationMask) == (theirs.operation & kOperationMask) &&
      mine.operation != theirs.operation) {
    return "the roots differ: rank " + std::to_string(mine.operation >> kRootShift) + " here, rank " +
           std::to_string(theirs.operation >> kRootShift) + " there";
  }
  if (mine.operation != theirs.operation) {
    return std::string("one rank calls ") + name + ", the other another operation";
  }
  return "one rank passes " + elements(mine.count, mine.type) + ", the other " +
         elements(theirs.count, theirs.type);
}

bool isReceive(StepKind kind) {
  return kind == StepKind::kRecv || kind == StepKind::kRecvReduce;
}

}  // namespace

RankProgress::RankProgress(const Call& call, reduce::Kernel kernel, const RankWork& work)
    : call_(call),
      kernel_(kernel),
      work_(work),
      element_bytes_(sizeOf(call.type)),
      scratch_(work.plan->scratch_count * element_bytes_) {
  startRound();
}

// Local copies are done on the spot; empty messages are not sent at all.
void RankProgress::startRound() {
  while (active_.empty() && next_step_ < steps().size()) {
    const std::uint32_t round = steps()[next_step_].round;
    for (; next_step_ < steps().size() && steps()[next_step_].round == round; ++next_step_) {
      const plan::Step& step = steps()[next_step_];
      if (step.count == 0) continue;
      if (step.kind == StepKind::kCopy) {
        std::memmove(target(step.to), source(step.from), step.count * element_bytes_);
      } else {
        active_.push_back({.step = &step});
      }
    }
  }
}

bool RankProgress::poll() {
  bool moved = false;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    // Messages between two ranks keep their order: a step waits for an earlier one that shares its channel.
    const bool blocked = std::any_of(
        active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(i), [&](const Active& earlier) {
          return earlier.step->peer == active_[i].step->peer &&
                 isReceive(earlier.step->kind) == isReceive(active_[i].step->kind) && !finished(earlier);
        });
    if (!blocked && !finished(active_[i])) moved |= advance(active_[i]);
  }
  if (!moved) return false;
  if (std::all_of(active_.begin(), active_.end(), [this](const Active& each) { return finished(each); })) {
    active_.clear();
    startRound();
  }
  return true;
}

bool RankProgress::finished(const Active& active) const {
  return active.bytes_moved == active.step->count * element_bytes_;
}

bool RankProgress::advance(Active& active) {
  return isReceive(active.step->kind) ? receive(active) : send(active);
}

bool RankProgress::send(Active& active) {
  transport::Connection& connection = work_.endpoint->peer(active.step->peer);
  const std::size_t total = active.step->count * element_bytes_;
  bool moved = false;
  if (active.header_moved < sizeof(Header)) {
    const Header header = headerOf(call_, total);
    const auto bytes = std::as_bytes(std::span(&header, 1)).subspan(active.header_moved);
    const std::size_t sent = connection.trySend(bytes);
    active.header_moved += sent;
    moved = sent > 0;
    if (active.header_moved < sizeof(Header)) return moved;
  }
  const std::span<const std::byte> rest(source(active.step->from) + active.bytes_moved,
                                        total - active.bytes_moved);
  const std::size_t sent = connection.trySend(rest);
  active.bytes_moved += sent;
  if (active.bytes_moved == total) connection.finishSend();
  return moved || sent > 0;
}

bool RankProgress::receive(Active& active) {
  transport::Connection& connection = work_.endpoint->peer(active.step->peer);
  const bool header_moved = active.header_moved < sizeof(Header) && receiveHeader(active, connection);
  if (active.header_moved < sizeof(Header)) return false;
  const std::size_t total = active.step->count * element_bytes_;
  const std::span<const std::byte> ready = connection.peek();
  const std::size_t part =
      std::min(ready.size(), total - active.bytes_moved) / element_bytes_ * element_bytes_;
  if (part == 0) return header_moved;
  absorb(*active.step, active.bytes_moved, ready.first(part));
  connection.consume(part);
  active.bytes_moved += part;
  if (active.bytes_moved == total) connection.finishReceive();
  return true;
}

// The header is one aligned block, so it arrives in one piece or not yet.
bool RankProgress::receiveHeader(Active& active, transport::Connection& connection) {
  const std::span<const std::byte> ready = connection.peek();
  if (ready.size() < sizeof(Header) || mismatch_) return false;
  Header theirs;
  std::memcpy(&theirs, ready.data(), sizeof(theirs));
  const Header mine = headerOf(call_, active.step->count * element_bytes_);
  if (!(theirs == mine)) {
    mismatch_ = describeMismatch(mine, theirs, call_.name);
    mismatched_rank_ = active.step->peer;
    return false;
  }
  connection.consume(sizeof(Header));
  active.header_moved = sizeof(Header);
  return true;
}

void RankProgress::absorb(const plan::Step& step, std::size_t done_bytes, std::span<const std::byte> part) {
  std::byte* to = target(step.to) + done_bytes;
  if (step.kind == StepKind::kRecv) {
    std::memcpy(to, part.data(), part.size());
  } else {
    kernel_(to, source(step.from) + done_bytes, part.data(), part.size() / element_bytes_);
  }
}

void RankProgress::appendAwaited(std::vector<int>& ranks) const {
  for (const Active& active : active_) {
    if (!finished(active)) ranks.push_back(active.step->peer);
  }
}

const std::byte* RankProgress::source(const plan::Slice& slice) const {
  const std::size_t offset = slice.offset * element_bytes_;
  switch (slice.buffer) {
    case plan::Buffer::kInput:
      return static_cast<const std::byte*>(work_.input) + offset;
    case plan::Buffer::kOutput:
      return static_cast<const std::byte*>(work_.output) + offset;
    case plan::Buffer::kScratch:
      return scratch_.data() + offset;
  }
  POP_CHECK(false);
}

std::byte* RankProgress::target(const plan::Slice& slice) {
  POP_CHECK(slice.buffer != plan::Buffer::kInput);
  const std::size_t offset = slice.offset * element_bytes_;
  return slice.buffer == plan::Buffer::kOutput ? static_cast<std::byte*>(work_.output) + offset
                                               : scratch_.data() + offset;
}

}  // namespace popdist::exec
