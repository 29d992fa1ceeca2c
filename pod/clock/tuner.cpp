// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/tuner.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/base/text.h"
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
  Candidates(const Topology& topology, const ReplicaLayout& layout, std::uint64_t count,
             std::size_t element_bytes)
      : topology_(topology), layout_(layout), count_(count), element_bytes_(element_bytes) {}

  void add(std::string name, Schedule schedule) {
    const CollectiveTime time = simulate(topology_, layout_, schedule, count_, element_bytes_);
    found_.push_back({std::move(name), std::move(schedule), time});
  }

  // The quickest of a family by one number, from 1 to `most`.
  template <typename Make>
  void addBest(const std::string& name, const std::string& noun, int most, const Make& make) {
    std::optional<TimedSchedule> best;
    for (int number = 1; number <= most; number = number < 4 ? number + 1 : number + number / 3) {
      Schedule schedule = make(number);
      const CollectiveTime time = simulate(topology_, layout_, schedule, count_, element_bytes_);
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
  const Topology& topology_;
  const ReplicaLayout& layout_;
  const std::uint64_t count_;
  const std::size_t element_bytes_;
  std::vector<TimedSchedule> found_;
};

void addRings(const ReplicaLayout& layout, Candidates& candidates) {
  for (const RingMethod method :
       {RingMethod::kClockwise, RingMethod::kBidirectionalPair, RingMethod::kMeetInTheMiddle})
    candidates.add(std::string(nameOf(method)), gclAllReduce(layout, layout.replicas, {method, method}));
  if (layout.spec.ringTopology() == IldTopology::kBarleyTwist)
    candidates.add(
        std::string(nameOf(RingMethod::kQuadDirectional)),
        gclAllReduce(layout, layout.replicas, {RingMethod::kQuadDirectional, RingMethod::kQuadDirectional}));
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

void addDirect(const ReplicaLayout& layout, Candidates& candidates) {
  const int per_ild = layout.replicasPerIld();
  if (per_ild == 1 || per_ild > kMaxIldIpus || layout.ildCount() > 1) return;
  for (const std::vector<int>& product : productsOf(per_ild)) {
    std::vector<Stage> stages;
    std::string name = "direct";
    int stride = 1;
    for (const int size : product) {
      stages.push_back({{size, stride, RingOrder::kFlat}, RingMethod::kDirect});
      name += (stride == 1 ? " " : "x") + std::to_string(size);
      stride *= size;
    }
    candidates.add(name, allReduce(layout.replicas, stages, stages));
  }
}

// (chunks + fill) * (cost of a round + time of all / chunks) is least where both products of it are equal.
int chunksFor(const Topology& topology, const ReplicaLayout& layout, const std::vector<Tree>& trees,
              std::uint64_t count, std::size_t element_bytes) {
  int units = 0;
  int height = 0;
  for (const Tree& tree : trees) {
    units += tree.units;
    height = std::max(height, tree.height);
  }
  const auto bytes = static_cast<double>(count * element_bytes);
  const double all_ps = bytes * leastSecondsPerByte(topology, trees) * 1e12;
  const double round_ps = static_cast<double>(std::max<std::int64_t>(1, roundCost(layout).count()));
  const double most = std::min(static_cast<double>(kMostChunks), static_cast<double>(count) / units);
  return std::max(1, static_cast<int>(std::min(most, std::sqrt(2 * height * all_ps / round_ps))));
}

void addTrees(const Topology& topology, const ReplicaLayout& layout, std::uint64_t count,
              std::size_t element_bytes, Candidates& candidates) {
  if (layout.ipus_per_replica != 1 || layout.ildCount() > 1 || layout.replicas > kMaxIldIpus) return;
  for (const int units : kUnits) {
    const std::vector<Tree> trees = packTrees(topology, layout.replicas, units);
    if (trees.empty()) return;
    const int chunks = chunksFor(topology, layout, trees, count, element_bytes);
    candidates.add(
        counted(static_cast<std::int64_t>(trees.size()), "tree") + " (" + counted(chunks, "chunk") + ")",
        treeAllReduce(trees, chunks));
  }
}

std::string nameOf(CollectiveKind kind, GclMethods methods) {
  const std::string scatter(nameOf(methods.reduce_scatter));
  const std::string gather(nameOf(methods.all_gather));
  if (kind == CollectiveKind::kAllGather) return gather;
  return kind == CollectiveKind::kReduceScatter || scatter == gather ? scatter : scatter + ", then " + gather;
}

Schedule gclSchedule(const ReplicaLayout& layout, CollectiveKind kind, GclMethods methods) {
  if (kind == CollectiveKind::kReduceScatter) return gclReduceScatter(layout, layout.replicas, methods);
  if (kind == CollectiveKind::kAllGather) return gclAllGather(layout, layout.replicas, methods);
  return gclAllReduce(layout, layout.replicas, methods);
}

}  // namespace

TimedSchedule gclChoice(const Topology& topology, const ReplicaLayout& layout, std::uint64_t count,
                        std::size_t element_bytes, CollectiveKind kind) {
  const GclMethods methods = automaticMethods(layout, layout.replicas, count * element_bytes);
  Schedule schedule = gclSchedule(layout, kind, methods);
  const CollectiveTime time = simulate(topology, layout, schedule, count, element_bytes);
  return {nameOf(kind, methods), std::move(schedule), time};
}

std::vector<TimedSchedule> timedAllReduces(const Topology& topology, const ReplicaLayout& layout,
                                           std::uint64_t count, std::size_t element_bytes) {
  Candidates candidates(topology, layout, count, element_bytes);
  addRings(layout, candidates);
  candidates.keepBest([&] { addDirect(layout, candidates); });
  if (splitAllReduce(layout, 1))
    candidates.addBest("split", "piece", kMostPieces,
                       [&](int pieces) { return *splitAllReduce(layout, pieces); });
  candidates.keepBest([&] { addTrees(topology, layout, count, element_bytes, candidates); });
  std::vector<TimedSchedule> all{gclChoice(topology, layout, count, element_bytes)};
  for (TimedSchedule& each : candidates.take()) all.push_back(std::move(each));
  return all;
}

TimedSchedule quickestAllReduce(const Topology& topology, const ReplicaLayout& layout, std::uint64_t count,
                                std::size_t element_bytes) {
  std::vector<TimedSchedule> all = timedAllReduces(topology, layout, count, element_bytes);
  return *std::ranges::min_element(all, {}, [](const TimedSchedule& each) { return each.time.total; });
}

}  // namespace pop::pod
