// SPDX-License-Identifier: Apache-2.0
#include "popdist/buffer.hpp"
#include "popdist/fused.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "common/base/random.h"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using testing::errorOf;
using testing::everybody;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::MembersShape;
using testing::ThreadGroup;

constexpr FusionOptions kSmallBuckets{.bucket_bytes = 256};

// Tensors of an instance, of 0 to 20 elements and one that exceeds a bucket, each in memory of its own.
struct Gradients {
  explicit Gradients(std::size_t tensors) {
    for (std::size_t i = 0; i < tensors; ++i) values.emplace_back(i == 3 ? 1000 : i * 13 % 21);
  }
  void fill(int rank, int step) {
    for (std::size_t i = 0; i < values.size(); ++i)
      std::fill(values[i].begin(), values[i].end(), static_cast<float>(rank + step) + static_cast<float>(i));
  }
  void expectSums(int ranks, int step) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto n = static_cast<float>(ranks);
      const float expected = n * (n - 1) / 2 + n * (static_cast<float>(step) + static_cast<float>(i));
      EXPECT_THAT(values[i], Each(expected)) << "tensor " << i;
    }
  }
  std::vector<FusedTensor> tensors() {
    std::vector<FusedTensor> all;
    for (std::size_t i = 0; i < values.size(); ++i)
      all.push_back({"grad" + std::to_string(i), values[i].data(), values[i].size(), Type::kFloat});
    return all;
  }
  std::vector<std::vector<float>> values;
};

class FusedSums : public ::testing::TestWithParam<MembersShape> {};

INSTANTIATE_TEST_SUITE_P(Members, FusedSums,
                         ::testing::Values(MembersShape{1}, MembersShape{2}, MembersShape{3}, MembersShape{4},
                                           MembersShape{3, true}, MembersShape{4, false, 2}),
                         testing::nameOfShape);

TEST_P(FusedSums, AreThoseOfEachTensorStepAfterStep) {
  ThreadGroup group(GetParam().group());
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    Gradients gradients(40);
    FusedAllReduce fused(context, members, "gradients", gradients.tensors(), kSmallBuckets);
    EXPECT_GT(fused.buckets(), 3U);
    EXPECT_LT(fused.buckets(), 20U);
    for (int step = 0; step < 5; ++step) {
      gradients.fill(context.instanceIndex(), step);
      fused.reduce();
      gradients.expectSums(context.numInstances(), step);
    }
  });
}

TEST_P(FusedSums, MayBecomeReadyInAnyOrderAndFromSeveralThreads) {
  ThreadGroup group(GetParam().group());
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    Gradients gradients(40);
    FusedAllReduce fused(context, members, "gradients", gradients.tensors(), kSmallBuckets);
    pop::SplitMix64 random(static_cast<std::uint64_t>(context.instanceIndex()));
    std::vector<std::size_t> order(gradients.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int step = 0; step < 5; ++step) {
      gradients.fill(context.instanceIndex(), step);
      pop::shuffle(std::span(order), random);
      std::jthread other([&] {
        for (std::size_t i = 0; i < order.size(); i += 2) fused.ready(order[i]);
      });
      for (std::size_t i = 1; i < order.size(); i += 2) fused.ready(order[i]);
      other.join();
      fused.wait();
      gradients.expectSums(context.numInstances(), step);
    }
  });
}

TEST(FusedAllReduce, ReducesByOtherOperatorsAndTypes) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    const int rank = context.instanceIndex();
    std::vector<bfloat16> narrow(5, bfloat16(static_cast<float>(rank)));
    std::vector<double> wide(5, rank);
    std::vector<bfloat16> more(3, bfloat16(static_cast<float>(2 * rank)));
    FusedAllReduce fused(context, members, "mixed",
                         {{"narrow", narrow.data(), 5, Type::kBfloat16},
                          {"wide", wide.data(), 5, Type::kDouble},
                          {"more", more.data(), 3, Type::kBfloat16}},
                         {.op = Operator::kMean});
    EXPECT_EQ(fused.buckets(), 2U);
    fused.reduce();
    EXPECT_THAT(wide, Each(0.5));
    for (const bfloat16 value : narrow) EXPECT_EQ(static_cast<float>(value), 0.5F);
    for (const bfloat16 value : more) EXPECT_EQ(static_cast<float>(value), 1.0F);
  });
}

TEST(FusedAllReduce, BeginsABucketAsSoonAsItsTensorsAreReady) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    std::vector<float> first(10, 1), second(10, 1);
    FusedAllReduce fused(
        context, members, "step",
        {{"first", first.data(), 10, Type::kFloat}, {"second", second.data(), 10, Type::kFloat}},
        {.bucket_bytes = 40});
    ASSERT_EQ(fused.buckets(), 2U);
    fused.ready(0);
    while (first[0] == 1) std::this_thread::yield();  // it lies in one piece: its result comes by itself
    EXPECT_EQ(second[0], 1);
    fused.ready(1);
    fused.wait();
    EXPECT_THAT(second, Each(2));
  });
}

TEST(FusedAllReduce, MistakesAreRefused) {
  ThreadGroup group(1);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    float value = 1;
    const auto make = [&](FusedTensor tensor, Operator op) {
      return errorOf([&] { FusedAllReduce(context, members, "name", {std::move(tensor)}, {.op = op}); });
    };
    EXPECT_EQ(make({"t", nullptr, 1, Type::kFloat}, Operator::kSum).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(make({"t", &value, 1, static_cast<Type>(99)}, Operator::kSum).code(),
              ErrorCode::kInvalidArgument);
    EXPECT_THAT(make({"t", &value, 1, Type::kFloat}, Operator::kBitOr).what(),
                AllOf(HasSubstr("'name'"), HasSubstr("tensor 't'"), HasSubstr("bit or of float")));

    std::vector<float> pair(2);
    const auto share = [&](std::size_t first_count) {
      FusedAllReduce(context, members, "tied",
                     {{"second", pair.data() + 1, 1, Type::kFloat},
                      {"none", pair.data(), 0, Type::kFloat},
                      {"first", pair.data(), first_count, Type::kFloat}});
    };
    EXPECT_THAT(errorOf([&] { share(2); }).what(), HasSubstr("tensors 'first' and 'second' share memory"));
    share(1);

    float other = 1;
    FusedAllReduce fused(context, members, "step",
                         {{"one", &value, 1, Type::kFloat}, {"two", &other, 1, Type::kFloat}});
    EXPECT_EQ(errorOf([&] { fused.ready(2); }).code(), ErrorCode::kInvalidArgument);
    fused.ready(0);
    EXPECT_THAT(errorOf([&] { fused.ready(0); }).what(), HasSubstr("'one' is already marked ready"));
    EXPECT_THAT(errorOf([&] { fused.wait(); }).what(), HasSubstr("'two' is not marked ready"));
    fused.ready(1);
    fused.wait();
    fused.reduce();
  });
}

TEST(FusedAllReduce, TensorsThatDoNotMatchAreAnErrorAndTheNextStepWorks) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    std::vector<float> odd(context.instanceIndex() == 0 ? 5 : 6, 1);
    FusedAllReduce fused(context, members, "odd", {{"t", odd.data(), odd.size(), Type::kFloat}});
    for (int step = 0; step < 2; ++step) {
      const popdist_error error = errorOf([&] { fused.reduce(); });
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("'odd/bucket 0'"), HasSubstr("5 float"), HasSubstr("6 float")));
    }
    float value = 1;
    FusedAllReduce good(context, members, "good", {{"t", &value, 1, Type::kFloat}});
    good.reduce();
    EXPECT_EQ(value, 2);
  });
}

TEST(FusedAllReduce, WaitsInItsEndForWhatGoesOn) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    std::vector<float> first(1000, 1), second(1000, 1);
    {
      FusedAllReduce fused(
          context, members, "gradients",
          {{"1", second.data(), 1000, Type::kFloat}, {"0", first.data(), 1000, Type::kFloat}});
      fused.ready(0);
      fused.ready(1);
    }
    members.barrier("after").wait();
  });
}

// Where another member may come late and write.
TEST(FusedAllReduce, HasNoOtherUseForTheMemoryOfABucketThatFailed) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .transport = {.tcp_only = true}});
  group.run([](Context& context) {
    std::optional<AsyncCommunicator> members = everybody(context);
    if (context.instanceIndex() == 1) return;
    std::vector<float> memory(1000);
    const std::vector<FusedTensor> apart{{"1", memory.data(), 100, Type::kFloat},
                                         {"0", memory.data() + 500, 100, Type::kFloat}};
    const auto next_place = [&] { return Buffer(context, 200 * sizeof(float)).data(); };
    const void* const place = next_place();
    { const FusedAllReduce unused(context, *members, "unused", apart); }
    EXPECT_EQ(next_place(), place);
    {
      FusedAllReduce fused(context, *members, "gradients", apart);
      EXPECT_EQ(fused.copiedBytes(), 200 * sizeof(float));
      EXPECT_EQ(errorOf([&] { fused.reduce(); }).code(), ErrorCode::kFailedPrecondition);
    }
    EXPECT_NE(next_place(), place);
  });
}

TEST(FusedAllReduce, FailsAsItsCommunicatorDoes) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    std::optional<AsyncCommunicator> members = everybody(context);
    if (context.instanceIndex() == 1) return;
    float value = 1;
    FusedAllReduce fused(context, *members, "gradients", {{"t", &value, 1, Type::kFloat}});
    for (int step = 0; step < 2; ++step)
      EXPECT_EQ(errorOf([&] { fused.reduce(); }).code(), ErrorCode::kFailedPrecondition);
  });
}

}  // namespace
}  // namespace popdist
