// SPDX-License-Identifier: Apache-2.0
// Runs the plans of all ranks in one thread, on real elements, so that a plan is tested without a transport.
//
// It is stricter than any transport: between two ranks at most one message is under way, and steps of one
// round must not touch the same elements, since an executor may carry them out in any order; but for sums,
// which are made in the order of the plan, and for an exchange of one range, whose elements are overwritten
// once they have been sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

template <typename T>
struct SimulatedRank {
  Plan plan;
  std::vector<T> input;
  std::vector<T> output;
  bool absent = false;    ///< never takes a step
  bool finished = false;  ///< set by the simulator
};

template <typename T, typename Add = std::plus<T>>
class PlanSimulator {
 public:
  /// `scratch_value` fills kScratch, so that a plan which reads it before writing it gets caught.
  PlanSimulator(std::vector<SimulatedRank<T>>& ranks, T scratch_value, Add add)
      : ranks_(ranks),
        places_(ranks.size()),
        scratch_value_(std::move(scratch_value)),
        add_(std::move(add)) {}

  std::string run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) prepare(rank);
    for (bool progress = true; progress && error_.empty();) {
      progress = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) progress |= advance(rank);
    }
    if (error_.empty()) describeDeadlock();
    if (error_.empty()) describeLeftovers();
    return error_;
  }

 private:
  struct Place {
    std::size_t round_begin = 0;  ///< index of the current round's first step
    std::vector<bool> done;       ///< per step
    std::vector<T> scratch;
  };

  void fail(std::size_t rank, const std::string& what) {
    if (error_.empty()) error_ = "rank " + std::to_string(rank) + ": " + what;
  }

  std::vector<T>& memory(std::size_t rank, Buffer buffer) {
    if (buffer == Buffer::kInput) return ranks_[rank].input;
    return buffer == Buffer::kOutput ? ranks_[rank].output : places_[rank].scratch;
  }

  static bool reads(const Step& step) { return step.kind != StepKind::kRecv; }
  static bool writes(const Step& step) { return step.kind != StepKind::kSend; }
  static bool overlap(const Slice& a, std::size_t a_count, const Slice& b, std::size_t b_count) {
    if (a_count == 0 || b_count == 0) return false;
    return a.buffer == b.buffer && a.offset < b.offset + b_count && b.offset < a.offset + a_count;
  }

  void prepare(std::size_t rank) {
    const Plan& plan = ranks_[rank].plan;
    places_[rank].done.assign(plan.steps.size(), false);
    places_[rank].scratch.assign(plan.scratch_count, scratch_value_);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (i > 0 && step.round < plan.steps[i - 1].round) fail(rank, "rounds decrease");
      checkPeer(rank, step);
      if (reads(step)) checkInside(rank, step.from, step.count);
      if (writes(step)) checkInside(rank, step.to, step.count);
      if (writes(step) && step.to.buffer == Buffer::kInput) fail(rank, "kInput is written");
      if (reads(step) && writes(step) && step.from != step.to &&
          overlap(step.from, step.count, step.to, step.count))
        fail(rank, "`from` and `to` overlap in part");
      for (std::size_t j = i; j-- > 0 && plan.steps[j].round == step.round;)
        checkIndependent(rank, plan.steps[j], step);
    }
  }

  void checkPeer(std::size_t rank, const Step& step) {
    const bool remote =
        step.peer >= 0 && step.peer < static_cast<int>(ranks_.size()) && step.peer != static_cast<int>(rank);
    if (step.kind == StepKind::kCopy ? step.peer != -1 : !remote)
      fail(rank, "bad peer " + std::to_string(step.peer));
  }

  void checkInside(std::size_t rank, const Slice& slice, std::size_t count) {
    if (count > 0 && slice.offset + count > memory(rank, slice.buffer).size())
      fail(rank, "slice beyond its buffer");
  }

  void checkIndependent(std::size_t rank, const Step& a, const Step& b) {
    const auto spoils = [](const Step& writer, const Step& other) {
      return writes(writer) && ((reads(other) && overlap(writer.to, writer.count, other.from, other.count)) ||
                                (writes(other) && overlap(writer.to, writer.count, other.to, other.count)));
    };
    if (areExchange(a, b) || areExchange(b, a) || areSums(a, b)) return;
    if (spoils(a, b) || spoils(b, a)) fail(rank, "steps of round " + std::to_string(a.round) + " conflict");
  }

  // An exchange of one range with one peer: its receive waits for its send.
  static bool areExchange(const Step& send, const Step& receive) {
    return send.kind == StepKind::kSend && receive.kind == StepKind::kRecvReduce &&
           send.peer == receive.peer && send.from == receive.to && send.count == receive.count;
  }

  static bool areSums(const Step& a, const Step& b) {
    return a.kind == StepKind::kRecvReduce && b.kind == StepKind::kRecvReduce &&
           overlap(a.to, a.count, b.to, b.count);
  }

  bool mayBegin(const Place& place, const std::vector<Step>& steps, std::size_t index) {
    for (std::size_t i = place.round_begin; i < steps.size() && steps[i].round == steps[index].round; ++i) {
      const bool is_before =
          areExchange(steps[i], steps[index]) || (i < index && areSums(steps[i], steps[index]));
      if (is_before && !place.done[i]) return false;
    }
    return true;
  }

  /// Runs `rank` as far as it gets without the others. True if it got anywhere.
  bool advance(std::size_t rank) {
    SimulatedRank<T>& self = ranks_[rank];
    Place& place = places_[rank];
    const std::vector<Step>& steps = self.plan.steps;
    if (self.absent || self.finished) return false;
    bool progress = false;
    while (place.round_begin < steps.size()) {
      std::size_t end = place.round_begin;
      bool round_done = true;
      for (; end < steps.size() && steps[end].round == steps[place.round_begin].round; ++end) {
        if (!place.done[end] && mayBegin(place, steps, end) && tryStep(rank, steps[end]))
          place.done[end] = progress = true;
        round_done = round_done && place.done[end];
      }
      if (!round_done || !error_.empty()) return progress;
      place.round_begin = end;
    }
    return self.finished = true;
  }

  bool tryStep(std::size_t rank, const Step& step) {
    if (step.count == 0) return true;
    const int me = static_cast<int>(rank);
    switch (step.kind) {
      case StepKind::kSend: {
        std::optional<std::vector<T>>& link = links_[{me, step.peer}];
        if (link.has_value()) return false;
        link = read(rank, step.from, step.count);
        return true;
      }
      case StepKind::kCopy:
        write(rank, step.to, read(rank, step.from, step.count));
        return true;
      case StepKind::kRecv:
      case StepKind::kRecvReduce:
        return tryReceive(rank, step, links_[{step.peer, me}]);
    }
    return false;
  }

  bool tryReceive(std::size_t rank, const Step& step, std::optional<std::vector<T>>& link) {
    if (!link.has_value()) return false;
    std::vector<T> message = *std::exchange(link, std::nullopt);
    if (message.size() != step.count) {
      fail(rank, "expects " + std::to_string(step.count) + " elements from rank " +
                     std::to_string(step.peer) + ", gets " + std::to_string(message.size()));
      return false;
    }
    if (step.kind == StepKind::kRecvReduce) {
      const std::vector<T> own = read(rank, step.from, step.count);
      std::transform(own.begin(), own.end(), message.begin(), message.begin(),
                     [&](const T& mine, const T& theirs) { return add(mine, theirs, step.operands); });
    }
    write(rank, step.to, message);
    return true;
  }

  T add(const T& own, const T& incoming, const Operands& operands) {
    if constexpr (std::is_invocable_v<Add, const T&, const T&, const Operands&>) {
      return add_(own, incoming, operands);
    } else {
      return add_(own, incoming);
    }
  }

  std::vector<T> read(std::size_t rank, const Slice& slice, std::size_t count) {
    const auto begin = memory(rank, slice.buffer).begin() + static_cast<std::ptrdiff_t>(slice.offset);
    return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count));
  }

  void write(std::size_t rank, const Slice& slice, const std::vector<T>& elements) {
    std::copy(elements.begin(), elements.end(),
              memory(rank, slice.buffer).begin() + static_cast<std::ptrdiff_t>(slice.offset));
  }

  void describeDeadlock() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].absent || ranks_[rank].finished) continue;
      const Place& place = places_[rank];
      std::size_t stuck = place.round_begin;
      while (place.done[stuck]) ++stuck;
      const Step& step = ranks_[rank].plan.steps[stuck];
      fail(rank, "deadlock in round " + std::to_string(step.round) + ", waiting for rank " +
                     std::to_string(step.peer));
    }
  }

  void describeLeftovers() {
    for (const auto& [ends, message] : links_) {
      if (message.has_value())
        fail(static_cast<std::size_t>(ends.first),
             "its message to rank " + std::to_string(ends.second) + " is left over");
    }
  }

  std::vector<SimulatedRank<T>>& ranks_;
  std::vector<Place> places_;
  std::map<std::pair<int, int>, std::optional<std::vector<T>>>
      links_;  ///< (sender, receiver) -> message under way
  T scratch_value_;
  Add add_;
  std::string error_;
};

/// Runs the plans until no rank can go on. Empty if every rank has finished and no message is left over,
/// else what went wrong. `add(own, incoming)` is the sum of kRecvReduce; it may take the step's operands,
/// too.
template <typename T, typename Add = std::plus<T>>
std::string simulate(std::vector<SimulatedRank<T>>& ranks, T scratch_value = T{}, Add add = {}) {
  return PlanSimulator<T, Add>(ranks, std::move(scratch_value), std::move(add)).run();
}

}  // namespace popdist::plan
