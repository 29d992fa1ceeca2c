// SPDX-License-Identifier: Apache-2.0
// Collectives between the IPUs of each replica: what replicas of one IPU in groups would get, in the same
// bits and the same time, however the replicas are split over instances.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "popdist/error.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

using IpuFloats = std::vector<float>;
using OfAllIpus = std::vector<IpuFloats>;  ///< one for each IPU of the job

constexpr std::size_t kIpus = 16;
constexpr std::size_t kElements = 148;

// Sums of these depend on their order.
OfAllIpus wildOfIpus(std::size_t count) {
  pop::SplitMix64 random(count);
  OfAllIpus tensors(kIpus, IpuFloats(count));
  for (IpuFloats& tensor : tensors) {
    for (float& value : tensor)
      value = static_cast<float>(std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(40)) - 20));
  }
  return tensors;
}

struct OfLocalIpus {
  std::vector<const void*> in;
  std::vector<void*> out;
};

struct AfterCall {
  OfAllIpus out;
  PodCollective report;
};

using CallOfIpus = std::function<void(Pod&, const OfLocalIpus&)>;

AfterCall callOnIpus(const GroupShape& shape, const OfAllIpus& in, OfAllIpus out, const CallOfIpus& call) {
  AfterCall after;
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    Pod pod(context);
    OfLocalIpus local;
    const auto ipus = static_cast<std::size_t>(shape.ipus_per_replica);
    const auto first = static_cast<std::size_t>(pod.firstReplica()) * ipus;
    for (std::size_t at = first; at < first + static_cast<std::size_t>(pod.numLocalReplicas()) * ipus; ++at) {
      local.in.push_back(in[at].data());
      local.out.push_back(out[at].data());
    }
    call(pod, local);
    if (context.instanceIndex() == 0) after.report = pod.lastCollective();
  });
  after.out = std::move(out);
  return after;
}

// Four replicas of four IPUs on 1, 2, 3 and 4 instances of one host, and on 4 instances of two.
std::vector<GroupShape> splitsOfFour() {
  std::vector<GroupShape> shapes{{.replicas_of_instance = {4}},
                                 {.replicas_of_instance = {2, 2}},
                                 {.replicas_of_instance = {1, 2, 1}},
                                 {.replicas_of_instance = {1, 1, 1, 1}},
                                 {.replicas_of_instance = {1, 1, 1, 1}, .instances_per_host = 2}};
  for (GroupShape& shape : shapes) {
    shape.ipus_per_replica = 4;
    shape.system = "pod16";
  }
  return shapes;
}

GroupShape singleIpus() {
  return {.replicas_of_instance = {8, 8}, .system = "pod16"};
}

struct GroupOfIpus {
  ReplicaGroup within;
  ReplicaGroup of_single_ipus;
  std::size_t size;
};
const GroupOfIpus kGroupsOfIpus[] = {
    {ReplicaGroup::all(), ReplicaGroup::consecutive(4), 4},
    {ReplicaGroup::consecutive(2), ReplicaGroup::consecutive(2), 2},
    {ReplicaGroup::orthogonal(2), ReplicaGroup::strided(2, 2), 2},
};

using CallWith = std::function<void(Pod&, const OfLocalIpus&, const PodCallOptions&)>;

void expectWhatSingleIpusGet(const OfAllIpus& in, const OfAllIpus& out, const GroupOfIpus& group,
                             const char* method, const CallWith& call) {
  SCOPED_TRACE(std::to_string(group.size) + " IPUs, " + method);
  const AfterCall expected = callOnIpus(singleIpus(), in, out, [&](Pod& pod, const OfLocalIpus& local) {
    call(pod, local, {.group = group.of_single_ipus, .method = method});
  });
  for (const GroupShape& shape : splitsOfFour()) {
    const AfterCall got = callOnIpus(shape, in, out, [&](Pod& pod, const OfLocalIpus& local) {
      call(pod, local, {.group = group.within, .method = method, .scope = PodScope::kWithinReplica});
    });
    EXPECT_EQ(got.out, expected.out) << shape.replicas_of_instance.size() << " instances";
    EXPECT_EQ(got.report.method, expected.report.method);
    EXPECT_EQ(got.report.time, expected.report.time);
    EXPECT_EQ(got.report.lower_bound, expected.report.lower_bound);
    EXPECT_EQ(got.report.bytes_on_busiest_link, expected.report.bytes_on_busiest_link);
    EXPECT_GT(got.report.lower_bound.count(), 0);
    EXPECT_LE(got.report.lower_bound, got.report.time);
    EXPECT_GT(got.report.efficiency(), 0);
  }
}

void forEachGroupOfIpus(const std::function<void(const GroupOfIpus&, const char* method)>& test) {
  for (const GroupOfIpus& group : kGroupsOfIpus) {
    for (const char* const method : {"auto", "bidirectional_ring_pair", "quickest"}) test(group, method);
  }
}

OfAllIpus zerosOfIpus(std::size_t count) {
  return OfAllIpus(kIpus, IpuFloats(count));
}

TEST(PodWithinReplica, AllReduceGivesTheBitsAndTimeOfSingleIpusForEverySplit) {
  const OfAllIpus in = wildOfIpus(kElements);
  forEachGroupOfIpus([&](const GroupOfIpus& group, const char* method) {
    expectWhatSingleIpusGet(in, zerosOfIpus(kElements), group, method,
                            [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
                              pod.allReduce(local.in, local.out, kElements, Type::kFloat, Operator::kSum,
                                            options);
                            });
  });
}

TEST(PodWithinReplica, ReduceScatterGivesTheBitsAndTimeOfSingleIpusForEverySplit) {
  const OfAllIpus in = wildOfIpus(kElements);
  forEachGroupOfIpus([&](const GroupOfIpus& group, const char* method) {
    const std::size_t part = kElements / group.size;
    expectWhatSingleIpusGet(in, zerosOfIpus(part), group, method,
                            [part](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
                              pod.reduceScatter(local.in, local.out, part, Type::kFloat, Operator::kSquareAdd,
                                                options);
                            });
  });
}

TEST(PodWithinReplica, AllGatherGivesTheBitsAndTimeOfSingleIpusForEverySplit) {
  const OfAllIpus in = wildOfIpus(37);
  forEachGroupOfIpus([&](const GroupOfIpus& group, const char* method) {
    expectWhatSingleIpusGet(in, zerosOfIpus(37 * group.size), group, method,
                            [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
                              pod.allGather(local.in, local.out, 37, Type::kFloat, options);
                            });
  });
}

TEST(PodWithinReplica, AllToAllAndBroadcastGiveTheBitsAndTimeOfSingleIpusForEverySplit) {
  const OfAllIpus in = wildOfIpus(kElements);
  for (const GroupOfIpus& group : kGroupsOfIpus) {
    const std::size_t part = kElements / group.size;
    expectWhatSingleIpusGet(in, zerosOfIpus(kElements), group, "auto",
                            [part](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
                              pod.allToAll(local.in, local.out, part, Type::kFloat, options);
                            });
    expectWhatSingleIpusGet(in, in, group, "quickest",
                            [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
                              pod.broadcast(local.out, kElements, Type::kFloat, 1, options);
                            });
  }
}

TEST(PodWithinReplica, AllReduceIsTheSumOverTheReplicasIpusInPlace) {
  const OfAllIpus in = wildOfIpus(kElements);
  const AfterCall after = callOnIpus(splitsOfFour()[1], in, in, [](Pod& pod, const OfLocalIpus& local) {
    const std::vector<const void*> same(local.out.begin(), local.out.end());
    pod.allReduce(same, local.out, kElements, Type::kFloat, Operator::kMean,
                  {.scope = PodScope::kWithinReplica});
  });
  for (std::size_t ipu = 0; ipu < kIpus; ++ipu) {
    for (std::size_t i = 0; i < kElements; ++i) {
      double sum = 0;
      double size = 0;
      for (std::size_t other = ipu / 4 * 4; other < ipu / 4 * 4 + 4; ++other) {
        sum += in[other][i];
        size += std::abs(in[other][i]);
      }
      ASSERT_NEAR(after.out[ipu][i], sum / 4, size * 1e-6);
    }
  }
}

TEST(PodWithinReplica, ManyTensorsAreMergedAsAcrossReplicas) {
  const AfterCall after =
      callOnIpus(splitsOfFour()[1], OfAllIpus(kIpus, IpuFloats(9, 1)), OfAllIpus(kIpus, IpuFloats(9, 1)),
                 [](Pod& pod, const OfLocalIpus& local) {
                   std::vector<void*> second;
                   for (void* const out : local.out) second.push_back(static_cast<float*>(out) + 4);
                   const std::vector<Pod::Tensor> tensors{{local.out, 4}, {second, 5}};
                   pod.allReduceMany(tensors, Type::kFloat, 1 << 10, Operator::kSum,
                                     {.scope = PodScope::kWithinReplica});
                   EXPECT_EQ(pod.times().all_reduce, pod.lastCollective().time) << "one collective";
                 });
  EXPECT_EQ(after.out, OfAllIpus(kIpus, IpuFloats(9, 4)));
}

TEST(PodWithinReplica, OfOneIpuIsACopyThatTakesNoTime) {
  for (const std::vector<int>& split : {std::vector<int>{16}, std::vector<int>{8, 8}}) {
    const OfAllIpus in = wildOfIpus(kElements);
    const PodCallOptions options{.scope = PodScope::kWithinReplica};
    const AfterCall after = callOnIpus({.replicas_of_instance = split, .system = "pod16"}, in,
                                       zerosOfIpus(kElements), [&](Pod& pod, const OfLocalIpus& local) {
                                         pod.allGather(local.in, local.out, kElements, Type::kFloat, options);
                                         pod.broadcast(local.out, kElements, Type::kFloat, 0, options);
                                         EXPECT_EQ(pod.time().count(), 0);
                                       });
    EXPECT_EQ(after.out, in);
    EXPECT_EQ(after.report.efficiency(), 1);
    EXPECT_EQ(after.report.rounds, 0);
  }
}

// On a ladder, replicas of two rows have their links for themselves.
TEST(PodWithinReplica, TakesAsLongForManyReplicasAsForOneWhereTheyShareNoLink) {
  const auto timeOf = [](int replicas) {
    return callOnIpus({.replicas_of_instance = {replicas}, .ipus_per_replica = 4, .system = "pod16"},
                      wildOfIpus(kElements), zerosOfIpus(kElements),
                      [](Pod& pod, const OfLocalIpus& local) {
                        pod.allReduce(local.in, local.out, kElements, Type::kFloat, Operator::kSum,
                                      {.method = "clockwise_ring", .scope = PodScope::kWithinReplica});
                      })
        .report;
  };
  EXPECT_EQ(timeOf(4).bytes_on_busiest_link, timeOf(1).bytes_on_busiest_link);
  EXPECT_GE(timeOf(4).time, timeOf(1).time) << "the sync goes over more rows";
}

// ---- local

TEST(PodLocalOperator, TakesEachPlacesPartOfItsOwnInNoTime) {
  const OfAllIpus in = wildOfIpus(kElements);
  const auto call = [](Pod& pod, const OfLocalIpus& local, PodScope scope) {
    pod.reduceScatter(local.in, local.out, kElements / 4, Type::kFloat, Operator::kLocal,
                      {.group = ReplicaGroup::consecutive(4), .scope = scope});
    EXPECT_EQ(pod.time().count(), 0);
    EXPECT_EQ(pod.lastCollective().method, "local");
    EXPECT_EQ(pod.lastCollective().efficiency(), 1);
  };
  OfAllIpus expected;
  for (std::size_t ipu = 0; ipu < kIpus; ++ipu) {
    const auto begin = in[ipu].begin() + static_cast<std::ptrdiff_t>(ipu % 4 * kElements / 4);
    expected.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(kElements / 4));
  }
  const OfAllIpus out = zerosOfIpus(kElements / 4);
  const AfterCall across = callOnIpus(singleIpus(), in, out, [&](Pod& pod, const OfLocalIpus& local) {
    call(pod, local, PodScope::kAcrossReplicas);
  });
  EXPECT_EQ(across.out, expected);
  for (const GroupShape& shape : splitsOfFour()) {
    const AfterCall within = callOnIpus(shape, in, out, [&](Pod& pod, const OfLocalIpus& local) {
      call(pod, local, PodScope::kWithinReplica);
    });
    EXPECT_EQ(within.out, expected);
  }
}

TEST(PodLocalOperator, HasAllTypes) {
  const std::vector<std::uint8_t> in{1, 0, 0, 1};
  std::vector<std::uint8_t> out(2);
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}});
  group.run([&](Context& context) {
    Pod pod(context);
    const void* const from = in.data();
    void* const to = &out[static_cast<std::size_t>(context.instanceIndex())];
    std::vector<std::uint8_t> part(2);
    void* const own = part.data();
    pod.reduceScatter({&from, 1}, {&own, 1}, 2, Type::kBool, Operator::kLocal);
    *static_cast<std::uint8_t*>(to) = part[1];
  });
  EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 1}));
}

// ---- mistakes

std::string refusalWithin(const std::function<void(Pod&, const OfLocalIpus&, const PodCallOptions&)>& call) {
  std::string text;
  const OfAllIpus tensors = zerosOfIpus(64);
  callOnIpus(splitsOfFour().front(), tensors, tensors, [&](Pod& pod, const OfLocalIpus& local) {
    const PodCallOptions options{.scope = PodScope::kWithinReplica};
    try {
      call(pod, local, options);
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      text = error.what();
    }
    pod.allReduce(local.in, local.out, 4, Type::kFloat, Operator::kSum, options);  // nothing has happened
  });
  return text;
}

TEST(PodMistakesWithin, OfArgumentsAreNamed) {
  const auto expect = [](const std::string& part,
                         const std::function<void(Pod&, const OfLocalIpus&, const PodCallOptions&)>& call) {
    const std::string text = refusalWithin(call);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(
      "Pod::allToAll: expected a tensor in `out` for each of the 16 IPUs of the 4 local replicas, as the "
      "scope is "
      "kWithinReplica, got 4",
      [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
        pod.allToAll(local.in, std::span(local.out).first(4), 4, Type::kFloat, options);
      });
  expect("groups of 3 IPUs do not divide the replica's 4 IPUs",
         [](Pod& pod, const OfLocalIpus& local, PodCallOptions options) {
           options.group = ReplicaGroup::consecutive(3);
           pod.allGather(local.in, local.out, 4, Type::kFloat, options);
         });
  expect("root is place 4, and groups have 4",
         [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
           pod.broadcast(local.out, 4, Type::kFloat, 4, options);
         });
  expect("in of IPU 2 of local replica 1 is a null pointer",
         [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
           std::vector<const void*> in = local.in;
           in[6] = nullptr;
           pod.allReduce(in, local.out, 4, Type::kFloat, Operator::kSum, options);
         });
  expect("out of IPU 0 of local replica 0 and out of IPU 1 of local replica 3 overlap",
         [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
           std::vector<void*> out = local.out;
           out[13] = out[0];
           pod.allReduce(local.in, out, 4, Type::kFloat, Operator::kSum, options);
         });
  expect("the operator local keeps what each has",
         [](Pod& pod, const OfLocalIpus& local, const PodCallOptions& options) {
           pod.allReduce(local.in, local.out, 4, Type::kFloat, Operator::kLocal, options);
         });
  expect("there is no method 'fastest'", [](Pod& pod, const OfLocalIpus& local, PodCallOptions options) {
    options.method = "fastest";
    pod.allReduce(local.in, local.out, 4, Type::kFloat, Operator::kSum, options);
  });
}

// Each instance is told what another one does differently.
TEST(PodMistakesWithin, OfOneInstanceEndTheCallForAll) {
  struct Differ {
    std::size_t second_count;
    PodCallOptions second;
  };
  const PodCallOptions within{.scope = PodScope::kWithinReplica};
  for (const Differ& each :
       {Differ{5, within}, Differ{4, {.group = ReplicaGroup::consecutive(4)}},
        Differ{4, {.group = ReplicaGroup::consecutive(2), .scope = PodScope::kWithinReplica}},
        Differ{4, {.method = "anticlockwise_ring", .scope = PodScope::kWithinReplica}}}) {
    std::mutex mutex;
    std::vector<std::string> texts;
    ThreadGroup group(GroupShape{.replicas_of_instance = {4, 4}, .ipus_per_replica = 4, .system = "pod64"});
    group.run([&](Context& context) {
      Pod pod(context);
      const bool is_first = context.instanceIndex() == 0;
      const PodCallOptions& options = is_first ? within : each.second;
      OfAllIpus tensors(options.scope == PodScope::kWithinReplica ? 16 : 4, IpuFloats(64));
      std::vector<void*> out;
      for (IpuFloats& tensor : tensors) out.push_back(tensor.data());
      const std::vector<const void*> in(out.begin(), out.end());
      for (int call = 0; call < 2; ++call) {
        try {
          pod.allReduce(in, out, is_first ? 4 : each.second_count, Type::kFloat, Operator::kSum, options);
        } catch (const popdist_error& error) {
          const std::lock_guard lock(mutex);
          texts.emplace_back(error.what());
        }
      }
    });
    ASSERT_EQ(texts.size(), 4U) << "both, and the Pod is unusable";
    EXPECT_NE(texts.front().find("'within 4x1 "), std::string::npos) << texts.front();
  }
}

}  // namespace
}  // namespace popdist
