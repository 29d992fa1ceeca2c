// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/tuner.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "pod/collectives/exchange.h"
#include "pod/collectives/gcl.h"
#include "pod/collectives/gcl_options.h"
#include "pod/collectives/split_all_reduce.h"
#include "pod/collectives/tree_packing.h"

namespace pop::pod {
namespace {

constexpr int kMostChunks = 4096;
constexpr int kMostPieces = 256;
// Two trees are exact on a ladder, and more get nearer to the bound on others.
constexpr int kUnits[] = {2, 16, 128, 256};

class Candidates {
 public:
  Candidates(const Topology& topology, const ReplicaLayout& layout, const Collective& collective)
      : topology_(topology), layout_(layout), collective_(collective) {}

  void add(std::string name, Schedule schedule) {
    const CollectiveTime time = timeOf(schedule);
    found_.push_back({std::move(name), std::move(schedule), time});
  }

  // The quickest of a family by one number, from 1 to `most`.
  template <typename Make>
  void addBest(const std::string& name, const std::string& noun, int most, const Make& make) {
    std::optional<TimedSchedule> best;
    for (int number = 1; number <= most; number = number < 4 ? number + 1 : number + number / 3) {
      Schedule schedule = make(number);
      const CollectiveTime time = timeOf(schedule);
      if (best && time.total > best->time.total + best->time.total / 4) break;
      if (best && time.total >= best->time.total) continue;
      best = {name + " (" + counted(number, noun) + ")", std::move(schedule), time};
    }
    if (best) found_.push_back(std::move(*best));
  }

  // The quickest alone stays of all that `fill` adds.
  template <typename Fill>
  void keepBest(const Fill& fill) {
    const auto before = static_cast<std::ptrdiff_t>(found_.size());
    fill();
    const auto best = std::ranges::min_element(found_.begin() + before, found_.end(), {},
                                               [](const TimedSchedule& each) { return each.time.total; });
    if (best == found_.end()) return;
    std::iter_swap(found_.begin() + before, best);
    found_.erase(found_.begin() + before + 1, found_.end());
  }

  std::vector<TimedSchedule> take() { return std::move(found_); }

 private:
  CollectiveTime timeOf(const Schedule& schedule) const {
    return simulate(topology_, layout_, schedule, collective_.count, collective_.element_bytes);
  }

  const Topology& topology_;
  const ReplicaLayout& layout_;
  const Collective& collective_;
  std::vector<TimedSchedule> found_;
};

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kReduceScatterOfAll;
}

bool gathers(CollectiveKind kind) {
  return kind != CollectiveKind::kReduceScatter && kind != CollectiveKind::kAllToAll;
}

bool hasRings(CollectiveKind kind) {
  return kind != CollectiveKind::kAllToAll && kind != CollectiveKind::kTakeOwnPart;
}

// The methods of the halves that it has.
std::string nameOf(CollectiveKind kind, GclMethods methods) {
  if (kind == CollectiveKind::kAllToAll) return "one place further in each round";
  if (kind == CollectiveKind::kTakeOwnPart) return "local";
  const std::string scatter(nameOf(methods.reduce_scatter));
  const std::string gather(nameOf(methods.all_gather));
  if (!reduces(kind)) return gather;
  return !gathers(kind) || scatter == gather ? scatter : scatter + ", then " + gather;
}

bool hasFourWays(const ReplicaLayout& layout, ReplicaGroup group) {
  return layout.spec.ringTopology() == IldTopology::kBarleyTwist && layout.ipus_per_replica == 1 &&
         group.stride == 1 && std::min(group.size, layout.replicasPerIld()) % 4 == 0;
}

void addRings(const ReplicaLayout& layout, const Collective& collective, Candidates& candidates) {
  if (!hasRings(collective.kind)) return;
  std::vector<RingMethod> methods{RingMethod::kClockwise, RingMethod::kBidirectionalPair,
                                  RingMethod::kMeetInTheMiddle};
  if (hasFourWays(layout, collective.group)) methods.push_back(RingMethod::kQuadDirectional);
  for (const RingMethod method : methods)
    candidates.add(std::string(nameOf(method)), gclSchedule(layout, collective, {method, method}));
}

// Every way to write the replicas of an ILD as a product of two or three numbers, or as itself.
std::vector<std::vector<int>> productsOf(int replicas) {
  std::vector<std::vector<int>> products{{replicas}};
  for (int first = 2; first < replicas; ++first) {
    if (replicas % first != 0) continue;
    products.push_back({first, replicas / first});
    for (int second = 2; second < replicas / first; ++second) {
      if (replicas / first % second == 0) products.push_back({first, second, replicas / first / second});
    }
  }
  return products;
}

Schedule directSchedule(const ReplicaLayout& layout, const Collective& collective,
                        const std::vector<Stage>& stages) {
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      return reduceScatter(layout.replicas, stages);
    case CollectiveKind::kAllGather:
      return allGather(layout.replicas, stages);
    case CollectiveKind::kBroadcast:
      return broadcast(allGather(layout.replicas, stages), collective.group, collective.root);
    default:
      return allReduce(layout.replicas, stages, stages);
  }
}

// Without rings: straight to each place. In one round, or by the digits of the place.
void addDirect(const ReplicaLayout& layout, const Collective& collective, Candidates& candidates) {
  const ReplicaGroup& group = collective.group;
  if (collective.kind == CollectiveKind::kReduceScatterOfAll ||
      collective.kind == CollectiveKind::kTakeOwnPart)
    return;
  if (collective.kind == CollectiveKind::kBroadcast)
    candidates.add("direct", directBroadcast(layout.replicas, group, collective.root));
  if (collective.kind == CollectiveKind::kAllToAll) {
    if (group.size <= kMaxIldIpus) candidates.add("direct", allToAll(layout.replicas, group, true));
    return;
  }
  const bool is_inside = layout.replicasPerIld() % (group.size * group.stride) == 0;
  if (group.size == 1 || group.size > kMaxIldIpus || !is_inside || layout.ildCount() > 1) return;
  for (const std::vector<int>& product : productsOf(group.size)) {
    std::vector<Stage> stages;
    std::string name = "direct";
    int stride = group.stride;
    for (const int size : product) {
      name += (stages.empty() ? " " : "x") + std::to_string(size);
      stages.push_back({{size, stride, RingOrder::kFlat}, RingMethod::kDirect});
      stride *= size;
    }
    candidates.add(name, directSchedule(layout, collective, stages));
  }
}

// (chunks + fill) * (cost of a round + time of all / chunks) is least where both products of it are equal.
int chunksFor(const Topology& topology, const ReplicaLayout& layout, const std::vector<Tree>& trees,
              const Collective& collective) {
  int units = 0;
  int height = 0;
  for (const Tree& tree : trees) {
    units += tree.units;
    height = std::max(height, tree.height);
  }
  const auto bytes = static_cast<double>(collective.bytes());
  const double all_ps = bytes * leastSecondsPerByte(topology, trees) * 1e12;
  const double round_ps = static_cast<double>(std::max<std::int64_t>(1, roundCost(layout).count()));
  const double most =
      std::min(static_cast<double>(kMostChunks), static_cast<double>(collective.count) / units);
  return std::max(1, static_cast<int>(std::min(most, std::sqrt(2 * height * all_ps / round_ps))));
}

void addTrees(const Topology& topology, const ReplicaLayout& layout, const Collective& collective,
              Candidates& candidates) {
  if (layout.ipus_per_replica != 1 || layout.ildCount() > 1 || layout.replicas > kMaxIldIpus) return;
  for (const int units : kUnits) {
    const std::vector<Tree> trees = packTrees(topology, layout.replicas, units);
    if (trees.empty()) return;
    const int chunks = chunksFor(topology, layout, trees, collective);
    candidates.add(
        counted(static_cast<std::int64_t>(trees.size()), "tree") + " (" + counted(chunks, "chunk") + ")",
        treeAllReduce(trees, chunks));
  }
}

// An all-reduce of all replicas at once has ways that groups do not have.
void addOfAll(const Topology& topology, const ReplicaLayout& layout, const Collective& collective,
              Candidates& candidates) {
  if (collective.kind != CollectiveKind::kAllReduce || collective.group.size != layout.replicas) return;
  if (splitAllReduce(layout, 1))
    candidates.addBest("split", "piece", kMostPieces,
                       [&](int pieces) { return *splitAllReduce(layout, pieces); });
  candidates.keepBest([&] { addTrees(topology, layout, collective, candidates); });
}

TimedSchedule timed(const Topology& topology, const ReplicaLayout& layout, const Collective& collective,
                    GclMethods methods) {
  Schedule schedule = gclSchedule(layout, collective, methods);
  const CollectiveTime time =
      simulate(topology, layout, schedule, collective.count, collective.element_bytes);
  return {nameOf(collective.kind, methods), std::move(schedule), time};
}

}  // namespace

TimedSchedule gclChoice(const Topology& topology, const ReplicaLayout& layout, const Collective& collective) {
  return timed(topology, layout, collective, automaticMethods(layout, collective.group, collective.bytes()));
}

std::vector<TimedSchedule> timedSchedules(const Topology& topology, const ReplicaLayout& layout,
                                          const Collective& collective) {
  Candidates candidates(topology, layout, collective);
  addRings(layout, collective, candidates);
  candidates.keepBest([&] { addDirect(layout, collective, candidates); });
  addOfAll(topology, layout, collective, candidates);
  std::vector<TimedSchedule> all{gclChoice(topology, layout, collective)};
  for (TimedSchedule& each : candidates.take()) all.push_back(std::move(each));
  return all;
}

TimedSchedule quickestSchedule(const Topology& topology, const ReplicaLayout& layout,
                               const Collective& collective) {
  std::vector<TimedSchedule> all = timedSchedules(topology, layout, collective);
  return *std::ranges::min_element(all, {}, [](const TimedSchedule& each) { return each.time.total; });
}

Result<TimedSchedule> scheduleByName(const Topology& topology, const ReplicaLayout& layout,
                                     const Collective& collective, const std::string& method) {
  if (!isMethod(method))
    return invalidArgument("there is no method " + inQuotes(method) + ": " + std::string(kMethodNames));
  if (method == kAutomatic) return gclChoice(topology, layout, collective);
  if (method == kQuickest) return quickestSchedule(topology, layout, collective);
  const std::optional<RingMethod> ring = ringMethodNamed(method);
  if (*ring == RingMethod::kQuadDirectional && !hasFourWays(layout, collective.group))
    return invalidArgument(
        "quad_directional_ring needs a barley twist, replicas of one IPU, and groups of a "
        "multiple of 4 consecutive ones: take auto");
  return timed(topology, layout, collective, {*ring, *ring});
}

}  // namespace pop::pod
