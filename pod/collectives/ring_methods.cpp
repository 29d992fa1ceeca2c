// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/ring_methods.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace pop::pod {
namespace {

constexpr std::pair<RingMethod, std::string_view> kNames[] = {
    {RingMethod::kClockwise, "clockwise_ring"},
    {RingMethod::kAnticlockwise, "anticlockwise_ring"},
    {RingMethod::kBidirectionalPair, "bidirectional_ring_pair"},
    {RingMethod::kMeetInTheMiddle, "meet_in_middle_ring"},
    {RingMethod::kQuadDirectional, "quad_directional_ring"},
    {RingMethod::kDirect, "direct"}};

struct Range {
  std::uint32_t first = 0;
  std::uint32_t blocks = 0;

  Range part(std::uint32_t parts, std::uint32_t index) const {
    return {first + blocks / parts * index, blocks / parts};
  }
};

// A ring of a stage: from each position to the next one in `step`'s direction.
struct Ring {
  std::vector<int> order;        // digit at each position
  std::vector<int> position_of;  // of each digit
  int step = 1;
  std::uint32_t fragment = 0;  // of each part, the one that goes round here
  int hops = 0;                // that a part makes

  Ring(std::vector<int> ring_order, int ring_step, std::uint32_t ring_fragment, int ring_hops)
      : order(std::move(ring_order)),
        position_of(order.size()),
        step(ring_step),
        fragment(ring_fragment),
        hops(ring_hops) {
    for (std::size_t at = 0; at < order.size(); ++at)
      position_of[static_cast<std::size_t>(order[at])] = static_cast<int>(at);
  }

  int digitAt(int position) const {
    const int size = static_cast<int>(order.size());
    return order[static_cast<std::size_t>((position % size + size) % size)];
  }
};

std::vector<Ring> ringsOf(const Stage& stage) {
  const std::vector<int> order = replicaOrder(stage.digit.order, stage.digit.size);
  const int hops = stage.digit.size - 1;
  switch (stage.method) {
    case RingMethod::kClockwise:
      return {{order, 1, 0, hops}};
    case RingMethod::kAnticlockwise:
      return {{order, -1, 0, hops}};
    case RingMethod::kBidirectionalPair:
      return {{order, 1, 0, hops}, {order, -1, 1, hops}};
    case RingMethod::kMeetInTheMiddle:
      return {{order, 1, 0, stage.digit.size / 2}, {order, -1, 0, hops - stage.digit.size / 2}};
    case RingMethod::kDirect:
      return {};
    case RingMethod::kQuadDirectional:
      break;
  }
  const std::vector<int> mirrored = replicaOrder(RingOrder::kMirrored, stage.digit.size);
  return {{order, 1, 0, hops}, {order, -1, 1, hops}, {mirrored, 1, 2, hops}, {mirrored, -1, 3, hops}};
}

// A stage with all that is fixed of it, shared by its phases.
struct StagePlan {
  int replicas;
  std::vector<Digit> before;  // digits of earlier stages: their parts hold this stage's
  Digit digit;
  std::vector<Ring> rings;
  std::uint32_t fragments;
  std::uint32_t blocks;  // of the vector

  // The blocks that this stage cuts, of the group that `replica` is in.
  Range wholeOf(int replica) const {
    Range range{0, blocks};
    for (const Digit& each : before)
      range = range.part(static_cast<std::uint32_t>(each.size), static_cast<std::uint32_t>(each.of(replica)));
    return range;
  }

  // Between any two of a digit, the part of one of them.
  void sendStraight(int replica, int to, int owner, bool reduces, const Take& take) const {
    const Range sent =
        wholeOf(replica).part(static_cast<std::uint32_t>(digit.size), static_cast<std::uint32_t>(owner));
    take({replica, digit.with(replica, to), sent.first, sent.blocks, reduces});
  }

  void send(const Ring& ring, int replica, int owner, bool reduces, const Take& take) const {
    const int next = ring.digitAt(positionOf(ring, replica) + ring.step);
    const Range part =
        wholeOf(replica).part(static_cast<std::uint32_t>(digit.size), static_cast<std::uint32_t>(owner));
    const Range sent = part.part(fragments, ring.fragment);
    take({replica, digit.with(replica, next), sent.first, sent.blocks, reduces});
  }
  int positionOf(const Ring& ring, int replica) const {
    return ring.position_of[static_cast<std::size_t>(digit.of(replica))];
  }
};

// Rings may end before others: the rounds until each end are alike.
std::vector<RoundClass> classesOf(const std::vector<Ring>& rings) {
  std::vector<int> ends;
  for (const Ring& ring : rings) ends.push_back(ring.hops);
  std::ranges::sort(ends);
  std::vector<RoundClass> classes;
  int begin = 0;
  for (const int end : ends) {
    if (end > begin) classes.push_back({begin, end - begin});
    begin = std::max(begin, end);
  }
  return classes;
}

int roundsOf(const std::vector<Ring>& rings) {
  int rounds = 0;
  for (const Ring& ring : rings) rounds = std::max(rounds, ring.hops);
  return rounds;
}

// A part's sum starts `hops` positions before its owner and ends there.
Phase reduceScatterPhase(const std::shared_ptr<const StagePlan>& stage) {
  return {"reduce-scatter", roundsOf(stage->rings), classesOf(stage->rings),
          [stage](int round, const Take& take) {
            for (const Ring& ring : stage->rings) {
              if (round >= ring.hops) continue;
              for (int replica = 0; replica < stage->replicas; ++replica) {
                const int at = stage->positionOf(ring, replica);
                stage->send(ring, replica, ring.digitAt(at + ring.step * (ring.hops - round)), true, take);
              }
            }
          }};
}

// A part starts at its owner and makes `hops` hops.
Phase allGatherPhase(const std::shared_ptr<const StagePlan>& stage) {
  return {"all-gather", roundsOf(stage->rings), classesOf(stage->rings),
          [stage](int round, const Take& take) {
            for (const Ring& ring : stage->rings) {
              if (round >= ring.hops) continue;
              for (int replica = 0; replica < stage->replicas; ++replica) {
                const int at = stage->positionOf(ring, replica);
                stage->send(ring, replica, ring.digitAt(at - ring.step * round), false, take);
              }
            }
          }};
}

// Each replica to each other one: its own part, or that of the other.
Phase directPhase(const std::shared_ptr<const StagePlan>& stage, bool reduces) {
  return {reduces ? "reduce-scatter" : "all-gather", 1, {{0, 1}}, [stage, reduces](int, const Take& take) {
            for (int replica = 0; replica < stage->replicas; ++replica) {
              const int own = stage->digit.of(replica);
              for (int to = 0; to < stage->digit.size; ++to) {
                if (to != own) stage->sendStraight(replica, to, reduces ? to : own, reduces, take);
              }
            }
          }};
}

using StagePlans = std::vector<std::shared_ptr<const StagePlan>>;

// Blocks so small that each stage can cut its parts into fragments.
std::uint32_t blocksFor(std::span<const Stage> stages, std::span<const Stage> others) {
  std::uint32_t blocks = 1;
  for (std::size_t at = 0; at < stages.size(); ++at) {
    const std::uint32_t other = at < others.size() ? fragmentsOf(others[at].method) : 1;
    const std::uint32_t fragments = std::max(fragmentsOf(stages[at].method), other);
    blocks *= static_cast<std::uint32_t>(stages[at].digit.size) * fragments;
  }
  return blocks;
}

StagePlans plansOf(int replicas, std::span<const Stage> stages, std::uint32_t blocks) {
  StagePlans plans;
  std::vector<Digit> before;
  for (const Stage& stage : stages) {
    plans.push_back(std::make_shared<StagePlan>(
        StagePlan{replicas, before, stage.digit, ringsOf(stage), fragmentsOf(stage.method), blocks}));
    before.push_back(stage.digit);
  }
  return plans;
}

Schedule scheduleOf(int replicas, std::uint32_t blocks, const StagePlans& down, const StagePlans& up) {
  Schedule schedule{.replicas = replicas, .blocks = blocks, .phases = {}};
  for (const auto& plan : down)
    schedule.phases.push_back(plan->rings.empty() ? directPhase(plan, true) : reduceScatterPhase(plan));
  for (std::size_t at = up.size(); at-- > 0;)
    schedule.phases.push_back(up[at]->rings.empty() ? directPhase(up[at], false) : allGatherPhase(up[at]));
  return schedule;
}

// The first stage cuts the vector into the largest parts; its digit need not be that of the largest steps.
std::vector<std::uint32_t> partsOf(std::span<const Stage> stages) {
  int places = 1;
  int step = stages.empty() ? 1 : stages.front().digit.stride;
  for (const Stage& stage : stages) {
    places *= stage.digit.size;
    step = std::min(step, stage.digit.stride);
  }
  std::vector<std::uint32_t> parts;
  for (int place = 0; place < places; ++place) {
    int part = 0;
    for (const Stage& stage : stages) part = part * stage.digit.size + stage.digit.of(place * step);
    parts.push_back(static_cast<std::uint32_t>(part));
  }
  return parts;
}

}  // namespace

std::string_view nameOf(RingMethod method) {
  return std::ranges::find(kNames, method, &std::pair<RingMethod, std::string_view>::first)->second;
}

std::optional<RingMethod> ringMethodNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &std::pair<RingMethod, std::string_view>::second);
  if (found == std::end(kNames)) return std::nullopt;
  return found->first;
}

Schedule allGather(int replicas, std::span<const Stage> stages) {
  const std::uint32_t blocks = blocksFor(stages, {});
  Schedule schedule = scheduleOf(replicas, blocks, {}, plansOf(replicas, stages, blocks));
  schedule.part_of_place = partsOf(stages);
  return schedule;
}

Schedule reduceScatter(int replicas, std::span<const Stage> stages) {
  const std::uint32_t blocks = blocksFor(stages, {});
  Schedule schedule = scheduleOf(replicas, blocks, plansOf(replicas, stages, blocks), {});
  schedule.part_of_place = partsOf(stages);
  return schedule;
}

Schedule allReduce(int replicas, std::span<const Stage> down, std::span<const Stage> up) {
  const std::uint32_t blocks = blocksFor(down, up);
  return scheduleOf(replicas, blocks, plansOf(replicas, down, blocks), plansOf(replicas, up, blocks));
}

Schedule reduceScatterOfAll(int replicas, std::span<const Stage> inside, std::span<const Stage> between) {
  std::vector<Stage> stages(inside.begin(), inside.end());
  stages.insert(stages.end(), between.begin(), between.end());
  const std::uint32_t blocks = blocksFor(stages, {});
  const StagePlans down = plansOf(replicas, stages, blocks);
  const StagePlans up(down.begin() + static_cast<std::ptrdiff_t>(inside.size()), down.end());
  return scheduleOf(replicas, blocks, down, up);
}

}  // namespace pop::pod
