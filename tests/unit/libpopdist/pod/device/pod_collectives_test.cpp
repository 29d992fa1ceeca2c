// SPDX-License-Identifier: Apache-2.0
// GCL's collectives on real tensors: each does what it means, and gives the same bits however the replicas
// are split over instances and hosts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

using Floats = std::vector<float>;
using Tensors = std::vector<Floats>;  ///< one for each replica of the job

// Sums of these depend on their order.
Tensors wild(std::size_t replicas, std::size_t count) {
  pop::SplitMix64 random(replicas * 7919 + count);
  Tensors tensors(replicas, Floats(count));
  for (Floats& tensor : tensors) {
    for (float& value : tensor)
      value = static_cast<float>(std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(40)) - 20));
  }
  return tensors;
}

struct Local {
  std::vector<const void*> in;
  std::vector<void*> out;
};

using Call = std::function<void(Pod&, const Local&)>;

// Every replica's `out` after the call.
Tensors after(const GroupShape& shape, const Tensors& in, Tensors out, const Call& call) {
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    Pod pod(context);
    Local local;
    for (int replica = 0; replica < pod.numLocalReplicas(); ++replica) {
      const auto at = static_cast<std::size_t>(pod.firstReplica() + replica);
      if (!in.empty()) local.in.push_back(in[at].data());
      local.out.push_back(out[at].data());
    }
    call(pod, local);
  });
  return out;
}

// Eight replicas on 1, 2, 3 and 8 instances of one host, and on 4 instances of two.
std::vector<GroupShape> shapes() {
  return {{.replicas_of_instance = {8}},
          {.replicas_of_instance = {4, 4}},
          {.replicas_of_instance = {3, 1, 4}},
          {.replicas_of_instance = std::vector<int>(8, 1)},
          {.replicas_of_instance = {2, 2, 2, 2}, .instances_per_host = 2}};
}

constexpr std::size_t kReplicas = 8;
constexpr std::size_t kCount = 301;

struct Grouped {
  ReplicaGroup group;
  int size;
  int stride;
  int with(int replica, int place) const { return replica + (place - replica / stride % size) * stride; }
  int placeOf(int replica) const { return replica / stride % size; }
};

const Grouped kGroups[] = {{ReplicaGroup::all(), 8, 1},
                           {ReplicaGroup::consecutive(2), 2, 1},
                           {ReplicaGroup::orthogonal(4), 4, 2},
                           {ReplicaGroup::strided(2, 2), 2, 2}};
const char* const kMethods[] = {"auto", "anticlockwise_ring", "meet_in_middle_ring", "quickest"};

void forEachWay(const std::function<void(const Grouped&, const PodCallOptions&)>& test) {
  for (const Grouped& grouped : kGroups) {
    for (const char* const method : kMethods) {
      SCOPED_TRACE(std::to_string(grouped.size) + " replicas " + std::to_string(grouped.stride) + " apart, " +
                   method);
      test(grouped, {.group = grouped.group, .method = method});
    }
  }
}

// The same bits for all shapes, which are returned.
Tensors forAllShapes(const Tensors& in, const Tensors& out, const Call& call) {
  Tensors first;
  for (const GroupShape& shape : shapes()) {
    const Tensors got = after(shape, in, out, call);
    if (first.empty()) first = got;
    EXPECT_EQ(got, first) << shape.replicas_of_instance.size() << " instances";
  }
  return first;
}

TEST(PodCollectives, AllReduceGivesTheSameBitsForEverySplit) {
  const Tensors in = wild(kReplicas, kCount);
  forEachWay([&](const Grouped& grouped, const PodCallOptions& options) {
    const Tensors sums =
        forAllShapes(in, Tensors(kReplicas, Floats(kCount)), [&](Pod& pod, const Local& local) {
          pod.allReduce(local.in, local.out, kCount, Type::kFloat, Operator::kSum, options);
        });
    for (int replica = 0; replica < 8; ++replica) {
      for (std::size_t i = 0; i < kCount; ++i) {
        double sum = 0;
        double size = 0;
        for (int place = 0; place < grouped.size; ++place) {
          const double term = in[static_cast<std::size_t>(grouped.with(replica, place))][i];
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(sums[static_cast<std::size_t>(replica)][i], sum, size * 1e-6);
      }
    }
  });
}

TEST(PodCollectives, AllReduceInPlaceGivesTheSameBits) {
  const Tensors in = wild(kReplicas, kCount);
  const PodCallOptions options{.method = "quickest"};
  const auto apart =
      after(shapes().front(), in, Tensors(kReplicas, Floats(kCount)), [&](Pod& pod, const Local& local) {
        pod.allReduce(local.in, local.out, kCount, Type::kFloat, Operator::kSum, options);
      });
  const auto in_place = after(shapes()[1], {}, in, [&](Pod& pod, const Local& local) {
    const std::vector<const void*> same(local.out.begin(), local.out.end());
    pod.allReduce(same, local.out, kCount, Type::kFloat, Operator::kSum, options);
  });
  EXPECT_EQ(in_place, apart);
}

TEST(PodCollectives, ReduceScatterGivesEachPlaceItsPartOfTheSum) {
  forEachWay([&](const Grouped& grouped, const PodCallOptions& options) {
    const std::size_t parts = static_cast<std::size_t>(grouped.size);
    Tensors in = wild(kReplicas, 23 * parts);
    for (Floats& tensor : in) {
      for (float& value : tensor) value = std::round(value * 100);  // their sums are exact
    }
    const Tensors sums = forAllShapes(in, Tensors(kReplicas, Floats(23)), [&](Pod& pod, const Local& local) {
      pod.reduceScatter(local.in, local.out, 23, Type::kFloat, Operator::kMax, options);
    });
    for (int replica = 0; replica < 8; ++replica) {
      for (std::size_t i = 0; i < 23; ++i) {
        const std::size_t at = static_cast<std::size_t>(grouped.placeOf(replica)) * 23 + i;
        float most = in[static_cast<std::size_t>(grouped.with(replica, 0))][at];
        for (int place = 1; place < grouped.size; ++place)
          most = std::max(most, in[static_cast<std::size_t>(grouped.with(replica, place))][at]);
        ASSERT_EQ(sums[static_cast<std::size_t>(replica)][i], most) << replica;
      }
    }
  });
}

TEST(PodCollectives, AllGatherGivesThePartsInTheOrderOfPlaces) {
  forEachWay([&](const Grouped& grouped, const PodCallOptions& options) {
    const Tensors in = wild(kReplicas, 23);
    const auto parts = static_cast<std::size_t>(grouped.size);
    const Tensors all = forAllShapes(
        in, Tensors(kReplicas, Floats(23 * parts)),
        [&](Pod& pod, const Local& local) { pod.allGather(local.in, local.out, 23, Type::kFloat, options); });
    for (int replica = 0; replica < 8; ++replica) {
      for (int place = 0; place < grouped.size; ++place) {
        const Floats& part = in[static_cast<std::size_t>(grouped.with(replica, place))];
        ASSERT_TRUE(
            std::equal(part.begin(), part.end(), all[static_cast<std::size_t>(replica)].begin() + place * 23))
            << replica;
      }
    }
  });
}

TEST(PodCollectives, AllToAllTransposesPartsAndPlaces) {
  forEachWay([&](const Grouped& grouped, const PodCallOptions& options) {
    if (options.method != "auto" && options.method != "quickest") return;
    const auto parts = static_cast<std::size_t>(grouped.size);
    const Tensors in = wild(kReplicas, 23 * parts);
    const Tensors all = forAllShapes(
        in, Tensors(kReplicas, Floats(23 * parts)),
        [&](Pod& pod, const Local& local) { pod.allToAll(local.in, local.out, 23, Type::kFloat, options); });
    for (int replica = 0; replica < 8; ++replica) {
      for (int place = 0; place < grouped.size; ++place) {
        const Floats& from = in[static_cast<std::size_t>(grouped.with(replica, place))];
        ASSERT_TRUE(std::equal(from.begin() + grouped.placeOf(replica) * 23,
                               from.begin() + (grouped.placeOf(replica) + 1) * 23,
                               all[static_cast<std::size_t>(replica)].begin() + place * 23));
      }
    }
  });
}

TEST(PodCollectives, BroadcastGivesAllWhatTheRootHas) {
  forEachWay([&](const Grouped& grouped, const PodCallOptions& options) {
    const Tensors tensors = wild(kReplicas, kCount);
    const int root = grouped.size - 1;
    const Tensors got = forAllShapes({}, tensors, [&](Pod& pod, const Local& local) {
      pod.broadcast(local.out, kCount, Type::kFloat, root, options);
    });
    for (int replica = 0; replica < 8; ++replica)
      ASSERT_EQ(got[static_cast<std::size_t>(replica)],
                tensors[static_cast<std::size_t>(grouped.with(replica, root))]);
  });
}

// Parts smaller than the fragments that a method cuts them into.
TEST(PodCollectives, OfFewElementsComeToTheirEnd) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    for (const char* const method : {"auto", "bidirectional_ring_pair", "meet_in_middle_ring", "quickest"}) {
      const PodCallOptions options{.group = ReplicaGroup::consecutive(4), .method = method};
      SCOPED_TRACE(std::to_string(count) + " elements, " + method);
      const Tensors in = wild(kReplicas, 4 * count);
      const Tensors parts =
          forAllShapes(in, Tensors(kReplicas, Floats(count)), [&](Pod& pod, const Local& local) {
            pod.reduceScatter(local.in, local.out, count, Type::kFloat, Operator::kMax, options);
          });
      const Tensors sums =
          forAllShapes(in, Tensors(kReplicas, Floats(4 * count)), [&](Pod& pod, const Local& local) {
            pod.allReduce(local.in, local.out, 4 * count, Type::kFloat, Operator::kMax, options);
          });
      const Tensors gathered =
          forAllShapes(parts, Tensors(kReplicas, Floats(4 * count)), [&](Pod& pod, const Local& local) {
            pod.allGather(local.in, local.out, count, Type::kFloat, options);
          });
      EXPECT_EQ(gathered, sums);
    }
  }
}

}  // namespace
}  // namespace popdist
