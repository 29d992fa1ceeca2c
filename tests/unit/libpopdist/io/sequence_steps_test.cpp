// SPDX-License-Identifier: Apache-2.0
// Steps over a sequence give what they give over the same elements by index, though its size is known only
// once a pass has ended.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/libpopdist/io/datasets.h"

namespace popdist::io::testing {
namespace {

using Read = std::vector<std::pair<int, float>>;  // 3 * element and weight, row by row

struct Steps {
  std::optional<std::uint64_t> take;
  int shard = 1;
  std::optional<Remainder> batch;
  int replicas = 1;
  int first = 0;
  int local = 1;
  bool cached = false;
  std::uint64_t passes = 1;

  std::string text() const {
    return (take ? "take " + std::to_string(*take) : "all") + ", shard " + std::to_string(shard) +
           ", batch " +
           (!batch                       ? "none"
            : *batch == Remainder::kDrop ? "drop"
                                         : "pad") +
           ", replicas " + std::to_string(first) + "+" + std::to_string(local) + " of " +
           std::to_string(replicas) + (cached ? ", cached" : "") + ", " + std::to_string(passes) + " passes";
  }

  Dataset over(Dataset dataset) const {
    if (take) dataset = std::move(dataset).take(*take);
    if (shard > 1) dataset = std::move(dataset).shard(shard, 1);
    if (batch) dataset = std::move(dataset).batch(2, *batch);
    dataset = std::move(dataset).forReplicas(
        {.replicas = replicas, .first_replica = first, .local_replicas = local});
    if (cached) dataset = std::move(dataset).cache();
    return passes == 1 ? std::move(dataset) : std::move(dataset).repeat(passes);
  }
};

Read readAll(const Dataset& dataset) {
  Read rows;
  Tensors element(dataset.spec());
  for (std::uint64_t i = 0; dataset.read(0, i, element); ++i) {
    const auto y = element.get<std::int32_t>("y");
    const bool has_weights = element.spec().size() > 2;
    for (std::size_t row = 0; row < y.size(); ++row)
      rows.emplace_back(y[row], has_weights ? element.get<float>(kWeightTensor)[row] : 1.0F);
  }
  return rows;
}

std::vector<Steps> someSteps() {
  std::vector<Steps> all;
  for (const std::optional<std::uint64_t> take : {std::optional<std::uint64_t>(), {4}, {5}, {7}, {20}})
    for (const int shard : {1, 2})
      for (const std::optional<Remainder> batch :
           {std::optional<Remainder>(), {Remainder::kDrop}, {Remainder::kPadWithWeights}})
        for (const auto& [replicas, first, local] : std::vector<std::tuple<int, int, int>>{
                 {1, 0, 1}, {2, 0, 1}, {2, 1, 1}, {2, 0, 2}, {3, 0, 2}, {3, 2, 1}})
          for (const bool cached : {false, true})
            for (const std::uint64_t passes : {1U, 3U})
              all.push_back({take, shard, batch, replicas, first, local, cached, passes});
  return all;
}

TEST(SequenceSteps, GiveWhatTheyGiveByIndex) {
  for (const Steps& steps : someSteps()) {
    for (const std::uint64_t elements : {13U, 14U, 24U}) {
      std::optional<Dataset> by_index;
      try {
        by_index = steps.over(counting(elements));
      } catch (const popdist_error&) {
        continue;  // too few for a step, which is known by index only
      }
      EXPECT_EQ(readAll(steps.over(countingSequence(elements))), readAll(*by_index))
          << elements << " elements, " << steps.text();
    }
  }
}

TEST(SequenceSteps, GiveTheSameAgainFromTheSamePlace) {
  const Dataset dataset =
      countingSequence(7).forReplicas({.replicas = 2, .first_replica = 0, .local_replicas = 2});
  Tensors element(dataset.spec());
  for (int time = 0; time < 2; ++time) EXPECT_FALSE(dataset.read(0, 6, element)) << "6 is of no whole step";
  EXPECT_EQ(passOf(dataset), upTo(6));
}

TEST(SequenceSteps, BufferedShuffleKeepsWhatItKnowsOfBatches) {
  const auto weightsOf = [](const Read& rows) {
    float sum = 0;
    for (const auto& [value, weight] : rows) sum += weight;
    return sum;
  };
  float weight = 0;
  for (const int replica : {0, 1, 2})
    weight +=
        weightsOf(readAll(counting(10)
                              .batch(3, Remainder::kPadWithWeights)
                              .shuffleBuffered(2, 1)
                              .forReplicas({.replicas = 3, .first_replica = replica, .local_replicas = 1})));
  EXPECT_EQ(weight, 10.0F);
  EXPECT_EQ(counting(10).batch(3).shuffleBuffered(2, 1).dropped(), 1U);
}

TEST(SequenceSteps, PassMustNotHaveFewerThanOneBefore) {
  int pass = 0;
  const Dataset dataset = Dataset::fromGenerator({{"x", Type::kFloat, {}}},
                                                 [&pass](std::uint64_t) -> Generator {
                                                   const int elements = pass++ == 0 ? 5 : 3;
                                                   return [=, next = 0](TensorRefs element) mutable {
                                                     element.get<float>("x")[0] = 0;
                                                     return next++ < elements;
                                                   };
                                                 })
                              .take(5)
                              .repeat();
  Tensors element(dataset.spec());
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(dataset.read(0, i, element));
  expectError([&] { dataset.read(0, 8, element); }, ErrorCode::kFailedPrecondition,
              "3 elements in epoch 1, and 5");
}

}  // namespace
}  // namespace popdist::io::testing
