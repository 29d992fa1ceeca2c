// SPDX-License-Identifier: Apache-2.0
// Arguments of a Pod's collectives: operators, many tensors, what is reported, what is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "libpopdist/pod/device/replica_map.h"
#include "popdist/error.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

using Floats = std::vector<float>;
using FloatsOfAll = std::vector<Floats>;  ///< one for each replica

// ---- operators

template <typename T>
std::vector<T> reduced(Operator op, const std::vector<std::vector<T>>& in) {
  std::vector<T> out(in.front().size());
  const GroupShape shape{.replicas_of_instance = {2, 2}};
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    Pod pod(context);
    std::vector<std::vector<T>> mine(2, std::vector<T>(out.size()));
    std::vector<const void*> from;
    std::vector<void*> to;
    for (int local = 0; local < 2; ++local) {
      from.push_back(in[static_cast<std::size_t>(pod.firstReplica() + local)].data());
      to.push_back(mine[static_cast<std::size_t>(local)].data());
    }
    pod.allReduce(from, to, out.size(), typeOf<T>(), op);
    EXPECT_EQ(mine[0], mine[1]);
    if (pod.firstReplica() == 0) out = mine[0];
  });
  return out;
}

TEST(PodOperators, DoWhatTheyMean) {
  const std::vector<Floats> floats{{1, -2}, {3, 0.5}, {-1, 4}, {2, 8}};
  EXPECT_EQ(reduced(Operator::kMean, floats), (Floats{1.25, 2.625}));
  EXPECT_EQ(reduced(Operator::kSquareAdd, floats), (Floats{15, 84.25}));
  EXPECT_EQ(reduced(Operator::kProduct, floats), (Floats{-6, -32}));
  EXPECT_EQ(reduced(Operator::kMin, floats), (Floats{-1, -2}));
  EXPECT_EQ(reduced(Operator::kMax, floats), (Floats{3, 8}));
  const std::vector<std::vector<std::int32_t>> numbers{{1, 0, 7}, {2, 0, 7}, {3, 1, 7}, {4, 0, 7}};
  EXPECT_EQ(reduced(Operator::kLogicalAnd, numbers), (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(reduced(Operator::kLogicalOr, numbers), (std::vector<std::int32_t>{1, 1, 1}));
  EXPECT_EQ(reduced(Operator::kBitXor, numbers), (std::vector<std::int32_t>{4, 1, 0}));
}

// ---- many tensors

TEST(PodAllReduceMany, MergesUpToTheSize) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}});
  group.run([](Context& context) {
    Pod pod(context);
    std::vector<Floats> tensors{Floats(10, 1), Floats(20, 2), Floats(1000, 3),
                                Floats(5, 4),  Floats(),      Floats(5, 5)};
    std::vector<void*> pointers;
    for (Floats& each : tensors) pointers.push_back(each.data());
    std::vector<Pod::Tensor> all;
    for (std::size_t at = 0; at < tensors.size(); ++at)
      all.push_back({{&pointers[at], 1}, tensors[at].size()});
    const SimulatedTime before = pod.time();
    pod.allReduceMany(all, Type::kFloat, 40 * sizeof(float));
    const SimulatedTime taken = pod.time() - before;
    for (std::size_t at = 0; at < tensors.size(); ++at) {
      for (const float value : tensors[at]) EXPECT_EQ(value, std::vector<float>({2, 4, 6, 8, 0, 10})[at]);
    }
    SimulatedTime expected{0};
    for (const std::size_t count : {30U, 1000U, 10U}) {
      Floats one(count);
      void* const pointer = one.data();
      pod.allReduceSum({&pointer, 1}, count, Type::kFloat);
      expected += pod.lastCollective().time;
    }
    EXPECT_EQ(taken, expected);
  });
}

TEST(PodAllReduceMany, RefusesTensorsThatOverlap) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}});
  group.run([](Context& context) {
    Pod pod(context);
    Floats memory(8, 1);
    void* const first = memory.data();
    void* const second = memory.data() + 3;
    const std::vector<Pod::Tensor> tensors{{{&first, 1}, 4}, {{&second, 1}, 4}};
    try {
      pod.allReduceMany(tensors, Type::kFloat, 1 << 10);
      ADD_FAILURE() << "they were summed";
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
    EXPECT_EQ(memory, Floats(8, 1));
  });
}

// ---- reports

TEST(PodReports, NameMethodTimeAndBound) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {8, 8}, .system = "pod16"});
  group.run([](Context& context) {
    Pod pod(context);
    FloatsOfAll tensors(8, Floats(1 << 14));
    std::vector<void*> local;
    for (Floats& each : tensors) local.push_back(each.data());
    const std::vector<const void*> in(local.begin(), local.end());
    pod.allReduce(in, local, 1 << 14, Type::kFloat);
    const PodCollective by_gcl = pod.lastCollective();
    EXPECT_EQ(by_gcl.method, "meet_in_middle_ring");
    EXPECT_EQ(by_gcl.rounds, 2 * 8);
    EXPECT_EQ(pod.times().all_reduce, by_gcl.time);
    EXPECT_GT(by_gcl.lower_bound.count(), 0);
    EXPECT_LT(by_gcl.lower_bound, by_gcl.time);
    EXPECT_LT(by_gcl.efficiency(), 1);
    pod.allReduce(in, local, 1 << 14, Type::kFloat, Operator::kSum, {.method = "quickest"});
    EXPECT_LT(pod.lastCollective().time, by_gcl.time);
    EXPECT_GT(pod.lastCollective().efficiency(), by_gcl.efficiency());
    pod.allToAll(in, local, 0, Type::kFloat);
    EXPECT_EQ(pod.lastCollective().time.count(), 0);
    EXPECT_EQ(pod.lastCollective().efficiency(), 1);
  });
}

// ---- mistakes

struct LocalTensors {
  std::vector<const void*> in;
  std::vector<void*> out;
};

std::string refusalOf(const std::function<void(Pod&, const LocalTensors&)>& call) {
  std::string text;
  FloatsOfAll in(4, Floats(64));
  FloatsOfAll out(4, Floats(64));
  ThreadGroup group(GroupShape{.replicas_of_instance = {4}});
  group.run([&](Context& context) {
    Pod pod(context);
    LocalTensors local;
    for (std::size_t at = 0; at < 4; ++at) {
      local.in.push_back(in[at].data());
      local.out.push_back(out[at].data());
    }
    try {
      call(pod, local);
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      text = error.what();
    }
    pod.allReduce(local.in, local.out, 4, Type::kFloat);  // nothing has happened
  });
  return text;
}

TEST(PodMistakes, OfArgumentsAreNamed) {
  const auto expect = [](const std::string& end, const std::function<void(Pod&, const LocalTensors&)>& call) {
    const std::string text = refusalOf(call);
    EXPECT_NE(text.find(end), std::string::npos) << text;
  };
  expect("groups of 3 replicas do not divide the job's 4 replicas", [](Pod& pod, const LocalTensors& local) {
    pod.allReduce(local.in, local.out, 4, Type::kFloat, Operator::kSum,
                  {.group = ReplicaGroup::consecutive(3)});
  });
  expect("there is no method 'fastest'", [](Pod& pod, const LocalTensors& local) {
    pod.allGather(local.in, local.out, 4, Type::kFloat, {.method = "fastest"});
  });
  expect("quad_directional_ring needs a barley twist", [](Pod& pod, const LocalTensors& local) {
    pod.allReduce(local.in, local.out, 4, Type::kFloat, Operator::kSum, {.method = "quad_directional_ring"});
  });
  expect("mean of int32 is not supported", [](Pod& pod, const LocalTensors& local) {
    pod.allReduce(local.in, local.out, 4, Type::kInt32, Operator::kMean);
  });
  expect("root is place 4, and groups have 4",
         [](Pod& pod, const LocalTensors& local) { pod.broadcast(local.out, 4, Type::kFloat, 4); });
  expect("root is place -1",
         [](Pod& pod, const LocalTensors& local) { pod.broadcast(local.out, 4, Type::kFloat, -1); });
  expect("expected a tensor in `out` for each of the 4 local replicas, got 3",
         [](Pod& pod, const LocalTensors& local) {
           pod.allToAll(local.in, std::span(local.out).first(3), 4, Type::kFloat);
         });
  expect("in of local replica 2 is a null pointer", [](Pod& pod, const LocalTensors& local) {
    std::vector<const void*> in = local.in;
    in[2] = nullptr;
    pod.allReduce(in, local.out, 4, Type::kFloat);
  });
  expect("out of local replica 0 and out of local replica 3 overlap",
         [](Pod& pod, const LocalTensors& local) {
           std::vector<void*> out = local.out;
           out[3] = out[0];
           pod.allReduce(local.in, out, 4, Type::kFloat);
         });
  expect("overlap", [](Pod& pod, const LocalTensors& local) {
    const std::vector<const void*> in(local.out.begin(), local.out.end());
    pod.allToAll(in, local.out, 4, Type::kFloat);
  });
  expect("count exceeds the address space", [](Pod& pod, const LocalTensors& local) {
    pod.allGather(local.in, local.out, SIZE_MAX / 8, Type::kFloat);
  });
}

TEST(PodMistakes, OfOneInstanceEndTheCallForAll) {
  struct Different {
    const char* in_text;
    PodCallOptions first;
    PodCallOptions second;
  };
  for (const Different& each :
       {Different{"2x1", {.group = ReplicaGroup::consecutive(2)}, {.group = ReplicaGroup::strided(2, 2)}},
        Different{"quickest", {.method = "clockwise_ring"}, {.method = "anticlockwise_ring"}}}) {
    std::mutex mutex;
    std::vector<std::string> texts;
    ThreadGroup group(GroupShape{.replicas_of_instance = {2, 2}});
    group.run([&](Context& context) {
      Pod pod(context);
      FloatsOfAll tensors(2, Floats(64));
      const std::vector<void*> out{tensors[0].data(), tensors[1].data()};
      const std::vector<const void*> in(out.begin(), out.end());
      const auto attempt = [&](const std::function<void()>& call) {
        try {
          call();
        } catch (const popdist_error& error) {
          const std::lock_guard lock(mutex);
          texts.emplace_back(error.what());
        }
      };
      attempt([&] {
        pod.allReduce(in, out, 64, Type::kFloat, Operator::kSum,
                      context.instanceIndex() == 0 ? each.first : each.second);
      });
      attempt([&] { pod.allReduceSum(out, 64, Type::kFloat); });
    });
    EXPECT_EQ(texts.size(), 4U) << each.in_text;
  }
}

TEST(PodOptions, OfTheEnvironmentChooseTheMethod) {
  ASSERT_EQ(setenv("GCL_OPTIONS", R"({"method": "anticlockwise_ring"})", 1), 0);
  ThreadGroup group(GroupShape{.replicas_of_instance = {4}});
  group.run([](Context& context) {
    Pod pod(context);
    FloatsOfAll tensors(4, Floats(64));
    const std::vector<void*> local{tensors[0].data(), tensors[1].data(), tensors[2].data(),
                                   tensors[3].data()};
    pod.allReduceSum(local, 64, Type::kFloat);
    EXPECT_EQ(pod.lastCollective().method, "anticlockwise_ring");
  });
  ASSERT_EQ(unsetenv("GCL_OPTIONS"), 0);
}

TEST(PodOptions, OfTheEnvironmentThatAreWrongAreRefused) {
  ASSERT_EQ(setenv("GCL_OPTIONS", R"({"method": "slowest"})", 1), 0);
  ThreadGroup group(GroupShape{.replicas_of_instance = {2}});
  std::string text;
  group.run([&](Context& context) {
    try {
      Pod pod(context);
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      text = error.what();
    }
  });
  ASSERT_EQ(unsetenv("GCL_OPTIONS"), 0);
  EXPECT_NE(text.find("GCL_OPTIONS: method is 'slowest'"), std::string::npos) << text;
}

TEST(PodOptions, OfInstancesMustBeTheSame) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {2, 2}});
  std::mutex mutex;
  std::vector<std::string> texts;
  group.run([&](Context& context) {
    try {
      pod::instanceOfReplica(context, context.instanceIndex() == 0 ? "auto" : "quickest");
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
      const std::lock_guard lock(mutex);
      texts.emplace_back(error.what());
    }
  });
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_NE(texts.front().find("give all instances the same GCL_OPTIONS"), std::string::npos)
      << texts.front();
}

}  // namespace
}  // namespace popdist
