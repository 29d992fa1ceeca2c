// SPDX-License-Identifier: Apache-2.0
// Each block is followed by itself through the rounds: what each replica has of it is its own elements, or
// the sum of what came and what it had.
#include "libpopdist/pod/plans/sum_order.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace popdist::pod {
namespace {

// A replica's own elements, or an addition by its number.
constexpr int kOwn = -1;

struct Addition {
  int incoming;  // kOwn: those of `from`
  int from;
  int own;  // kOwn: those of `to`
  int to;
  int replicas;  // whose elements are in it
};

// The additions of all blocks, by what each replica has of each block.
class Followed {
 public:
  explicit Followed(const Schedule& schedule)
      : replicas_(schedule.replicas),
        has_(static_cast<std::size_t>(schedule.replicas) * schedule.blocks, kOwn),
        total_(schedule.blocks, kOwn) {
    for (const Phase& phase : schedule.phases) {
      for (int round = 0; round < phase.rounds; ++round) {
        phase.transfers(round, [this](const Transfer& transfer) { take(transfer); });
        endRound();
      }
    }
  }

  const std::vector<Addition>& additions() const { return additions_; }
  /// The addition that has the block's elements of all replicas first.
  int totalOf(std::uint32_t block) const { return total_[block]; }

 private:
  int& has(std::uint32_t block, int replica) {
    return has_[std::size_t{block} * static_cast<std::size_t>(replicas_) + static_cast<std::size_t>(replica)];
  }
  int replicasIn(int addition) const {
    return addition == kOwn ? 1 : additions_[static_cast<std::size_t>(addition)].replicas;
  }

  void take(const Transfer& transfer) {
    if (!transfer.reduces) return;
    for (std::uint32_t block = transfer.first; block < transfer.first + transfer.blocks; ++block)
      arrivals_.push_back({block, {has(block, transfer.from), transfer.from, kOwn, transfer.to, 0}});
  }

  // A round sends the values of before it.
  void endRound() {
    for (auto& [block, addition] : arrivals_) {
      int& own = has(block, addition.to);
      addition.own = own;
      addition.replicas = replicasIn(addition.incoming) + replicasIn(own);
      own = static_cast<int>(additions_.size());
      if (addition.replicas == replicas_ && total_[block] == kOwn) total_[block] = own;
      additions_.push_back(addition);
    }
    arrivals_.clear();
  }

  const int replicas_;
  std::vector<int> has_;
  std::vector<int> total_;
  std::vector<Addition> additions_;
  std::vector<std::pair<std::uint32_t, Addition>> arrivals_;
};

using Sums = std::vector<SumOrder::Sum>;

// Appends the sum of an addition to `sums`. The incoming elements are the left operand, so that the sum of a
// ring is one list. Returns its index and the buffers that it needs.
std::pair<int, int> unroll(const std::vector<Addition>& additions, int addition, Sums& sums) {
  SumOrder::Sum terms;
  int kept = 0;
  int most = 0;
  for (int at = addition; at != kOwn;) {
    const Addition& last = additions[static_cast<std::size_t>(at)];
    if (last.own == kOwn) {
      terms.push_back({false, last.to});
    } else {
      const auto [sum, buffers] = unroll(additions, last.own, sums);
      terms.push_back({true, sum});
      most = std::max(most, buffers);
      ++kept;
    }
    at = last.incoming;
    if (at == kOwn) terms.push_back({false, last.from});
  }
  std::reverse(terms.begin(), terms.end());
  sums.push_back(std::move(terms));
  return {static_cast<int>(sums.size()) - 1, kept + most};
}

}  // namespace

SumOrder::SumOrder(const Schedule& schedule) {
  if (schedule.replicas == 1) {
    sums_.push_back({{false, 0}});
    sum_of_.assign(schedule.blocks, 0);
    owner_of_.assign(schedule.blocks, 0);
    return;
  }
  const Followed followed(schedule);
  for (std::uint32_t block = 0; block < schedule.blocks; ++block) {
    const int total = followed.totalOf(block);
    POP_CHECK(total != kOwn);
    owner_of_.push_back(followed.additions()[static_cast<std::size_t>(total)].to);
    const auto [sum, buffers] = unroll(followed.additions(), total, sums_);
    sum_of_.push_back(sum);
    buffers_ = std::max(buffers_, buffers);
  }
}

}  // namespace popdist::pod
