// SPDX-License-Identifier: Apache-2.0
// Steps over a sequence give what they give over the same elements by index, though its size is known only
// once a pass has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/libpopdist/data/datasets.h"

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

/// Pass n, counted by how often a generator is started, has the n-th number of elements.
Dataset ofLengths(std::vector<int> lengths) {
  return Dataset::fromGenerator(CountingSource(0).spec(),
                                [lengths = std::move(lengths), pass = std::size_t{0}](std::uint64_t) mutable {
                                  const int elements = lengths[std::min(pass++, lengths.size() - 1)];
                                  return [=, next = 0](TensorRefs element) mutable {
                                    if (next == elements) return false;
                                    CountingSource(0).read(static_cast<std::uint64_t>(next++), element);
                                    return true;
                                  };
                                });
}

/// Reads on, beyond `elements` ones.
void expectOtherLength(const Dataset& dataset, std::uint64_t elements, const std::string& said) {
  Tensors element(dataset.spec());
  std::uint64_t read = 0;
  const auto readOn = [&] {
    while (read < 100 && dataset.read(0, read, element)) ++read;
  };
  expectError(readOn, ErrorCode::kFailedPrecondition, said);
  EXPECT_EQ(read, elements);
}

TEST(SequenceSteps, PassMustNotHaveFewerThanOneBefore) {
  expectOtherLength(ofLengths({5, 3}).take(5).repeat(), 8, "3 elements in epoch 1, and 5");
  expectOtherLength(ofLengths({5, 3}).repeat(), 8, "3 elements in epoch 1, and 5");
}

TEST(SequenceSteps, PassMustNotHaveMoreThanOneBefore) {
  const std::string more = "gave more elements in epoch 1, and 5";
  expectOtherLength(ofLengths({5, 8}).repeat(), 10, more);
  expectOtherLength(ofLengths({5, 8}).repeat(2), 10, more);
  expectOtherLength(ofLengths({5, 6}).prefetch(2).repeat(3), 10, more);
  expectOtherLength(ofLengths({5, 5, 6}).repeat(), 15, "more elements in epoch 2");
  expectOtherLength(ofLengths({5, 8}).take(7).repeat(), 10, more);
  expectOtherLength(ofLengths({5, 8}).skip(1).repeat(), 8, more);
  expectOtherLength(ofLengths({5, 8}).shard(2, 1).repeat(), 4, more);
  expectOtherLength(ofLengths({5, 8}).batch(2).repeat(), 4, more);
  expectOtherLength(ofLengths({5, 8}).batch(2, Remainder::kPadWithWeights).repeat(), 5, more);
  expectOtherLength(ofLengths({5, 8}).repeat().batch(2), 5, more);
  expectOtherLength(ofLengths({5, 8}).repeat().shard(3, 1), 3, more);
  expectOtherLength(ofLengths({5, 8}).map(CountingSource(0).spec(), [](auto, auto) {}).repeat(), 10, more);
  expectOtherLength(ofLengths({5, 8}).forReplicas({.replicas = 2, .local_replicas = 2}).repeat(), 8, more);
  expectOtherLength(ofLengths({5, 8}).shuffleBuffered(2).repeat(), 9, more);
}

TEST(SequenceSteps, PassesThatTakeAPartOfTheSameLengthMayGoOn) {
  EXPECT_EQ(passOf(ofLengths({5, 8, 9}).take(4).repeat(3)).size(), 12U);
  EXPECT_EQ(passOf(ofLengths({5, 8}).cache().repeat(3)).size(), 15U) << "it is read once";
}

TEST(SequenceSteps, AnInfeedTellsOfALongerPass) {
  Infeed infeed(ofLengths({5, 8}).repeat());
  const auto readOn = [&] {
    for (int i = 0; i < 100; ++i) infeed.next();
  };
  expectError(readOn, ErrorCode::kFailedPrecondition, "gave more elements in epoch 1, and 5");
  Infeed each(ofLengths({5, 8}).forReplicas({.replicas = 2, .local_replicas = 2}), {.replicas = 2});
  const auto readPass = [&](std::uint64_t epoch) {
    each.start({.epoch = epoch});
    while (each.next(0) != nullptr) each.next(1);
  };
  readPass(0);
  expectError([&] { readPass(1); }, ErrorCode::kFailedPrecondition, "gave more elements in epoch 1, and 5");
}

}  // namespace
}  // namespace popdist::io::testing
