// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/local_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "common/base/check.h"
#include "libpopdist/internal/fold.h"

namespace popdist::pod {
namespace {

using plan::Step;
using plan::StepKind;

// A message of the round under way, from its place in the round's bytes on.
struct Sent {
  int from = 0;
  std::size_t at = 0;
  std::size_t bytes = 0;
  bool is_taken = false;
};

class Rank {
 public:
  Rank(const calls::MessageRunner::Part& part, std::size_t element_bytes)
      : part_(part),
        element_bytes_(element_bytes),
        scratch_(std::make_unique_for_overwrite<std::byte[]>(part.plan->scratch_count * element_bytes)) {}

  const std::byte* source(plan::Slice slice) const {
    if (slice.buffer != plan::Buffer::kInput) return target(slice);
    return static_cast<const std::byte*>(part_.input) + slice.offset * element_bytes_;
  }
  std::byte* target(plan::Slice slice) const {
    POP_CHECK(slice.buffer != plan::Buffer::kInput);
    auto* const begin =
        slice.buffer == plan::Buffer::kScratch ? scratch_.get() : static_cast<std::byte*>(part_.output);
    return begin + slice.offset * element_bytes_;
  }

  bool isDone() const { return next_ == part_.plan->steps.size(); }
  std::uint32_t nextRound() const { return part_.plan->steps[next_].round; }
  /// The steps of a round, which is done then.
  std::span<const Step> take(std::uint32_t round) {
    const std::span<const Step> rest = std::span(part_.plan->steps).subspan(next_);
    const auto end = std::ranges::find_if(rest, [round](const Step& step) { return step.round != round; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    next_ += count;
    return rest.first(count);
  }

  std::vector<Sent> inbox;  ///< of the round, in the order of each sender

 private:
  calls::MessageRunner::Part part_;
  std::size_t element_bytes_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t next_ = 0;
};

class Exchange {
 public:
  Exchange(std::span<const calls::MessageRunner::Part> parts, int first_rank, Type type, Operator folds)
      : first_rank_(first_rank), type_(type), folds_(folds) {
    for (const calls::MessageRunner::Part& part : parts) ranks_.emplace_back(part, sizeOf(type));
  }

  void run() {
    while (true) {
      const auto next = std::ranges::min_element(
          ranks_, {}, [](const Rank& rank) { return rank.isDone() ? UINT32_MAX : rank.nextRound(); });
      if (next == ranks_.end() || next->isDone()) return;
      makeRound(next->nextRound());
    }
  }

 private:
  // All that a round sends is what was there before it.
  void makeRound(std::uint32_t round) {
    steps_.clear();
    for (Rank& rank : ranks_) steps_.push_back(rank.isDone() ? std::span<const Step>() : rank.take(round));
    bytes_.clear();
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      for (const Step& step : steps_[at]) send(at, step);
    }
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      for (const Step& step : steps_[at]) receive(ranks_[at], step);
      ranks_[at].inbox.clear();
    }
  }

  void send(std::size_t rank, const Step& step) {
    const std::size_t bytes = bytesOf(step);
    if (bytes == 0) return;
    const std::byte* const from = ranks_[rank].source(step.from);
    if (step.kind == StepKind::kCopy) {
      std::byte* const to = ranks_[rank].target(step.to);
      if (from != to) std::memcpy(to, from, bytes);
    } else if (step.kind == StepKind::kSend) {
      const auto peer = static_cast<std::size_t>(step.peer - first_rank_);
      POP_CHECK(peer < ranks_.size());
      ranks_[peer].inbox.push_back({first_rank_ + static_cast<int>(rank), bytes_.size(), bytes});
      bytes_.insert(bytes_.end(), from, from + bytes);
    }
  }

  void receive(Rank& rank, const Step& step) const {
    if (step.kind == StepKind::kCopy || step.kind == StepKind::kSend || step.count == 0) return;
    const auto sent = std::ranges::find_if(
        rank.inbox, [&step](const Sent& each) { return each.from == step.peer && !each.is_taken; });
    POP_CHECK(sent != rank.inbox.end() && sent->bytes == bytesOf(step));
    sent->is_taken = true;
    const std::byte* const incoming = bytes_.data() + sent->at;
    void* const to = rank.target(step.to);
    if (step.kind == StepKind::kRecv) {
      std::memcpy(to, incoming, sent->bytes);
      return;
    }
    const void* const sources[] = {incoming, rank.source(step.from)};
    reduce::fold({.op = folds_, .type = type_}, {&to, 1}, sources, step.count);
  }

  std::size_t bytesOf(const Step& step) const { return step.count * sizeOf(type_); }

  const int first_rank_;
  const Type type_;
  const Operator folds_;
  std::vector<Rank> ranks_;
  std::vector<std::span<const Step>> steps_;
  std::vector<std::byte> bytes_;
};

}  // namespace

void exchangeLocally(std::span<const calls::MessageRunner::Part> parts, int first_rank, Type type,
                     Operator folds) {
  Exchange(parts, first_rank, type, folds).run();
}

}  // namespace popdist::pod
