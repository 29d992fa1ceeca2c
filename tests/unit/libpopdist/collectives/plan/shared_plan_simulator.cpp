// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/libpopdist/collectives/plan/shared_plan_simulator.h"

#include <algorithm>
#include <utility>

namespace popdist::plan {
namespace {

std::size_t at(int rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace

SharedPlanSimulator::SharedPlanSimulator(int ranks, const StageLayout& layout, std::uint64_t seed)
    : ranks_count_(at(ranks)), layout_(layout), random_(seed), ranks_(ranks_count_) {
  for (std::size_t rank = 0; rank < ranks_count_; ++rank) {
    ranks_[rank].clock.assign(ranks_count_, 0);
    ranks_[rank].input.name = "input of rank " + std::to_string(rank);
    ranks_[rank].output.name = "output of rank " + std::to_string(rank);
    ranks_[rank].stage.name = "stage of rank " + std::to_string(rank);
    grow(ranks_[rank].stage, layout.bytes());
  }
}

std::string SharedPlanSimulator::run(const std::vector<SharedCallParts>& calls) {
  calls_ = &calls;
  outputs_.assign(calls.size(), std::vector<std::vector<std::uint8_t>>(ranks_count_));
  std::vector<int> order(ranks_count_);
  for (std::size_t rank = 0; rank < ranks_count_; ++rank) order[rank] = static_cast<int>(rank);
  for (bool progress = true; progress && error_.empty();) {
    progress = false;
    pop::shuffle(std::span(order), random_);
    for (const int rank : order) {
      for (std::uint64_t steps = random_.below(4) + 1; steps > 0 && tryAdvance(rank); --steps)
        progress = true;
    }
  }
  if (error_.empty()) describeDeadlock();
  return error_;
}

bool SharedPlanSimulator::tryAdvance(int rank) {
  Rank& self = ranks_[at(rank)];
  if (self.call == calls_->size() || !error_.empty()) return false;
  if (!std::exchange(self.begun, true)) begin(rank);
  const std::vector<SharedStep>& steps = partOf(rank).plan.steps;
  if (self.step == steps.size()) {
    finish(rank);
    return true;
  }
  ++self.clock[at(rank)];
  if (!tryStep(rank, steps[self.step])) return false;
  ++self.step;
  return true;
}

// The caller's buffers may be written by others for as long as the call that gave them to others lasts: their
// history stays.
void SharedPlanSimulator::begin(int rank) {
  Rank& self = ranks_[at(rank)];
  const SharedPart& part = partOf(rank);
  ++self.clock[at(rank)];
  grow(self.input, part.input.size());
  grow(self.output, part.output.size());
  write(rank, self.input, 0, part.input);
  write(rank, self.output, 0, part.output);
  if (part.in_place_at) write(rank, self.output, *part.in_place_at, part.input);
  takeRoom(self, part);
  if (std::count_if(part.plan.steps.begin(), part.plan.steps.end(),
                    [](const SharedStep& step) { return step.kind == SharedStepKind::kMeet; }) != 1)
    fail(rank, "it does not meet once");
}

void SharedPlanSimulator::finish(int rank) {
  Rank& self = ranks_[at(rank)];
  const SharedPart& part = partOf(rank);
  ++self.clock[at(rank)];
  outputs_[self.call][at(rank)] = read(rank, self.output, 0, part.output.size());
  const bool whole = !part.in_place_at && read(rank, self.input, 0, part.input.size()) != part.input;
  if (whole) fail(rank, "its input has changed");
  write(rank, self.input, 0, std::vector<std::uint8_t>(self.input.bytes.size(), 0xdd));
  write(rank, self.output, 0, std::vector<std::uint8_t>(self.output.bytes.size(), 0xdd));
  self.chunks += part.plan.chunks;
  self.begun = false;
  self.step = 0;
  ++self.call;
}

bool SharedPlanSimulator::tryStep(int rank, const SharedStep& step) {
  Rank& self = ranks_[at(rank)];
  const auto [input, offset] = inputOf(rank);
  switch (step.kind) {
    case SharedStepKind::kExport:
      move(rank, self.stage, stageOffset(rank, step), *input, offset + step.input, step.bytes);
      return true;
    case SharedStepKind::kImport:
      move(rank, self.output, step.output, ranks_[at(step.rank)].stage, stageOffset(rank, step), step.bytes);
      return true;
    case SharedStepKind::kFetch: {
      const auto [from, from_offset] = inputOf(step.rank);
      const bool there = from == &self.output && from_offset + step.input == step.output;
      if (!there) move(rank, self.output, step.output, *from, from_offset + step.input, step.bytes);
      return true;
    }
    case SharedStepKind::kGive:
      move(rank, ranks_[at(step.rank)].output, step.output, *input, offset + step.input, step.bytes);
      return true;
    case SharedStepKind::kTake:
      move(rank, self.output, step.output, ranks_[at(step.rank)].output, step.input, step.bytes);
      return true;
    case SharedStepKind::kFold:
    case SharedStepKind::kFoldFrom:
      fold(rank, step);
      return true;
    case SharedStepKind::kPost:
      post(rank, step);
      return true;
    case SharedStepKind::kAwait:
      return tryAwait(rank, step);
    case SharedStepKind::kMeet:
      return tryMeet(rank);
    case SharedStepKind::kConfirm:
      return true;
    case SharedStepKind::kSettle:
      fail(rank, "it settles, though all export before the meeting");
      return true;
  }
  return true;
}

bool SharedPlanSimulator::tryMeet(int rank) {
  Rank& self = ranks_[at(rank)];
  if (self.met.size() == self.call) self.met.push_back(self.clock);
  const auto is_there = [&](const Rank& other) { return other.met.size() > self.call; };
  if (!std::all_of(ranks_.begin(), ranks_.end(), is_there)) return false;
  for (const Rank& other : ranks_) learn(rank, other.met[self.call]);
  return true;
}

// What is learnt is what was so at the earliest post that is enough.
bool SharedPlanSimulator::tryAwait(int rank, const SharedStep& step) {
  const std::int64_t least = static_cast<std::int64_t>(ranks_[at(rank)].chunks) + step.value;
  if (least <= 0) return true;
  const auto value = static_cast<std::uint64_t>(least);
  std::vector<const Post*> enough;
  for (std::size_t other = 0; other < ranks_count_; ++other) {
    if (other == at(rank)) continue;
    const std::vector<Post>& posts = ranks_[other].posts[static_cast<std::size_t>(step.counter)];
    const auto found =
        std::find_if(posts.begin(), posts.end(), [&](const Post& each) { return each.value >= value; });
    if (found == posts.end()) return false;
    enough.push_back(&*found);
  }
  for (const Post* each : enough) learn(rank, each->clock);
  return true;
}

void SharedPlanSimulator::post(int rank, const SharedStep& step) {
  Rank& self = ranks_[at(rank)];
  std::vector<Post>& posts = self.posts[static_cast<std::size_t>(step.counter)];
  const auto grown = static_cast<std::uint64_t>(step.value);
  const std::uint64_t value = self.chunks + grown;
  if (!posts.empty() && posts.back().value >= value) fail(rank, "a counter does not grow");
  if (grown > partOf(rank).plan.chunks) fail(rank, "a counter grows beyond the plan's chunks");
  posts.push_back({value, self.clock});
}

void SharedPlanSimulator::fold(int rank, const SharedStep& step) {
  Rank& self = ranks_[at(rank)];
  std::vector<std::uint8_t> result(step.bytes, 0);
  for (std::size_t other = 0; other < ranks_count_; ++other) {
    const int from = static_cast<int>(other);
    const auto [input, offset] = inputOf(from);
    const bool by_input = from == rank || step.kind == SharedStepKind::kFoldFrom;
    const std::vector<std::uint8_t> next =
        by_input ? read(rank, *input, offset + step.input, step.bytes)
                 : read(rank, ranks_[other].stage, stageOffset(rank, step), step.bytes);
    if (next.size() != step.bytes) return;
    for (std::size_t i = 0; i < step.bytes; ++i) result[i] = mixed(result[i], next[i]);
  }
  if ((step.targets & kAllOutputs) != 0) {
    for (Rank& other : ranks_) write(rank, other.output, step.output, result);
  }
  if ((step.targets & kOwnOutput) != 0) write(rank, self.output, step.output, result);
  for (std::size_t other = 0; other < ranks_count_ && (step.targets & (kOthersStages | kWrittenBack)) != 0;
       ++other) {
    if (other != at(rank)) write(rank, ranks_[other].stage, stageOffset(rank, step), result);
  }
  if ((step.targets & kRankOutput) != 0) write(rank, ranks_[at(step.rank)].output, step.output, result);
}

void SharedPlanSimulator::move(int rank, Region& to, std::size_t to_offset, Region& from,
                               std::size_t from_offset, std::size_t bytes) {
  write(rank, to, to_offset, read(rank, from, from_offset, bytes));
}

std::vector<std::uint8_t> SharedPlanSimulator::read(int rank, Region& region, std::size_t offset,
                                                    std::size_t bytes) {
  if (!inside(rank, region, offset, bytes)) return {};
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    const auto [byte, reads] = historyOf(region, i);
    if (byte.writer >= 0 && !knows(rank, byte.writer, byte.written))
      fail(rank, "it reads byte " + std::to_string(i) + " of the " + region.name + " that rank " +
                     std::to_string(byte.writer) + " may be writing");
    byte.read = true;
    reads[at(rank)] = ranks_[at(rank)].clock[at(rank)];
  }
  const auto begin = region.bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

void SharedPlanSimulator::write(int rank, Region& region, std::size_t offset,
                                const std::vector<std::uint8_t>& bytes) {
  if (!inside(rank, region, offset, bytes.size())) return;
  for (std::size_t i = offset; i < offset + bytes.size(); ++i) {
    const auto [byte, reads] = historyOf(region, i);
    if (byte.writer >= 0 && !knows(rank, byte.writer, byte.written))
      fail(rank, "it writes byte " + std::to_string(i) + " of the " + region.name + " that rank " +
                     std::to_string(byte.writer) + " may be writing");
    for (std::size_t reader = 0; byte.read && reader < ranks_count_; ++reader) {
      if (!knows(rank, static_cast<int>(reader), std::exchange(reads[reader], 0)))
        fail(rank, "it writes byte " + std::to_string(i) + " of the " + region.name + " that rank " +
                       std::to_string(reader) + " may still read");
    }
    byte = {rank, ranks_[at(rank)].clock[at(rank)], false};
    region.bytes[i] = bytes[i - offset];
  }
}

bool SharedPlanSimulator::inside(int rank, const Region& region, std::size_t offset, std::size_t bytes) {
  if (offset <= region.bytes.size() && bytes <= region.bytes.size() - offset) return true;
  fail(rank, "it goes beyond the " + region.name);
  return false;
}

void SharedPlanSimulator::learn(int rank, const Clock& clock) {
  Clock& own = ranks_[at(rank)].clock;
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = std::max(own[i], clock[i]);
}

bool SharedPlanSimulator::knows(int rank, int other, std::uint64_t when) const {
  return ranks_[at(rank)].clock[at(other)] >= when;
}

// What is new has been touched by nobody.
void SharedPlanSimulator::grow(Region& region, std::size_t bytes) const {
  if (bytes <= region.bytes.size()) return;
  region.bytes.resize(bytes, 0xee);
  region.blocks.resize((bytes + kBlockBytes - 1) / kBlockBytes);
}

std::pair<SharedPlanSimulator::Byte&, std::span<std::uint64_t>> SharedPlanSimulator::historyOf(
    Region& region, std::size_t at) const {
  std::unique_ptr<Block>& block = region.blocks[at / kBlockBytes];
  if (!block) block = std::make_unique<Block>(Block{{}, Clock(kBlockBytes * ranks_count_)});
  const std::size_t inside = at % kBlockBytes;
  return {block->history[inside], std::span(block->reads).subspan(inside * ranks_count_, ranks_count_)};
}

std::pair<SharedPlanSimulator::Region*, std::size_t> SharedPlanSimulator::inputOf(int rank) {
  Rank& owner = ranks_[at(rank)];
  if (owner.call == calls_->size()) return {&owner.input, 0};
  const std::optional<std::size_t> place = partOf(rank).in_place_at;
  return place ? std::pair(&owner.output, *place) : std::pair(&owner.input, std::size_t{0});
}

// As the engine does it: chunks go round in the slots, what goes at once in the ring behind them.
std::size_t SharedPlanSimulator::stageOffset(int reader, const SharedStep& step) const {
  const Rank& self = ranks_[at(reader)];
  const std::size_t slot = (self.chunks + step.chunk) % layout_.slots.slots * layout_.slots.slot_bytes;
  return (partOf(reader).plan.eager ? self.eager_at : slot) + step.stage;
}

void SharedPlanSimulator::takeRoom(Rank& rank, const SharedPart& part) const {
  if (!part.plan.eager) return;
  if (rank.ring_at + part.eager_bytes > layout_.ring_bytes) rank.ring_at = 0;
  rank.eager_at = layout_.slots.slots * layout_.slots.slot_bytes + rank.ring_at;
  rank.ring_at += (part.eager_bytes + 127) / 128 * 128;
}

const SharedPart& SharedPlanSimulator::partOf(int rank) const {
  return (*calls_)[ranks_[at(rank)].call][at(rank)];
}

void SharedPlanSimulator::fail(int rank, const std::string& what) {
  if (!error_.empty()) return;
  const Rank& self = ranks_[at(rank)];
  error_ = "rank " + std::to_string(rank) + ", call " + std::to_string(self.call) + ", step " +
           std::to_string(self.step) + ": " + what;
}

void SharedPlanSimulator::describeDeadlock() {
  for (std::size_t rank = 0; rank < ranks_count_; ++rank) {
    if (ranks_[rank].call < calls_->size()) fail(static_cast<int>(rank), "it waits for ever");
  }
}

}  // namespace popdist::plan
