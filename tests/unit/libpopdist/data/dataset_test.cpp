// SPDX-License-Identifier: Apache-2.0
// The steps of a pipeline: which elements come, in which order, and what is said of those that do not fit.
#include <algorithm>
#include <set>

#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

using testing::counting;
using testing::countingSequence;
using ::testing::ElementsAre;
using testing::expectError;
using ::testing::IsEmpty;
using testing::passOf;
using testing::upTo;

template <typename T>
std::vector<T> copyOf(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Tensors elementAt(const Dataset& dataset, std::uint64_t index, std::uint64_t epoch = 0) {
  Tensors element(dataset.spec());
  EXPECT_TRUE(dataset.read(epoch, index, element)) << index;
  return element;
}

std::vector<float> weightsAt(const Dataset& dataset, std::uint64_t index) {
  const Tensors element = elementAt(dataset, index);
  return copyOf(element.get<float>(kWeightTensor));
}

TEST(Dataset, FromTensorsIsOneElement) {
  const Dataset dataset =
      Dataset::fromTensors(Tensors(Tensor::full("a", {800}, 1.0F), Tensor::full("b", {}, 7)));
  EXPECT_EQ(dataset.size(), 1U);
  const Tensors element = elementAt(dataset, 0);
  EXPECT_THAT(element.get<float>("a"), ::testing::Each(1.0F));
  EXPECT_EQ(element.get<float>("a").size(), 800U);
  EXPECT_EQ(element.get<int>("b")[0], 7);
}

TEST(Dataset, FromSlicesCountsByTheFirstDimension) {
  const Dataset dataset = Dataset::fromSlices(Tensors(Tensor::of<float>("x", {3, 2}, {0, 1, 2, 3, 4, 5}),
                                                      Tensor::of<std::uint8_t>("y", {3}, {7, 8, 9})));
  EXPECT_EQ(dataset.size(), 3U);
  EXPECT_EQ(textOf(dataset.spec()), "x: float [2], y: uint8 []");
  const Tensors last = elementAt(dataset, 2);
  EXPECT_THAT(copyOf(last.get<float>("x")), ElementsAre(4, 5));
  EXPECT_EQ(last.get<std::uint8_t>("y")[0], 9);
}

TEST(Dataset, FromSlicesRefusesWhatHasNoCommonCount) {
  expectError([] { Dataset::fromSlices(Tensors(Tensor::full("x", {3}, 0), Tensor::full("y", {4}, 0))); },
              ErrorCode::kInvalidArgument, "differ: x: int32 [3] and y: int32 [4]");
  expectError([] { Dataset::fromSlices(Tensors(Tensor::full("x", {}, 0))); }, ErrorCode::kInvalidArgument,
              "is a scalar");
  expectError(
      [] {
        Dataset::fromSlices(Tensors(Tensor::full("x", {3, 0}, 0)));
      },
      ErrorCode::kInvalidArgument, "x: int32 [3, 0]");
  expectError([] { Dataset::fromSlices(Tensors()); }, ErrorCode::kInvalidArgument, "no tensor");
}

TEST(Dataset, MapMakesOtherTensors) {
  const Dataset dataset = counting(4).map(
      {{"sum", Type::kDouble, {}}, {"pair", Type::kInt32, {2}}}, [](ConstTensorRefs from, TensorRefs to) {
        to.get<double>("sum")[0] = from.get<float>("x")[0] + from.get<float>("x")[1];
        to.get<std::int32_t>("pair")[1] = from.get<std::int32_t>(1)[0];
      });
  const Tensors element = elementAt(dataset, 3);
  EXPECT_EQ(element.get<double>("sum")[0], 6.5);
  EXPECT_EQ(element.get<std::int32_t>("pair")[1], 9);
}

TEST(Dataset, MapsOfMaps) {
  const Spec one{{"v", Type::kInt32, {}}};
  const auto add = [](std::int32_t more) {
    return [more](ConstTensorRefs from, TensorRefs to) {
      to.get<std::int32_t>(0)[0] = from.get<std::int32_t>("v")[0] + more;
    };
  };
  const Dataset dataset = Dataset::fromSlices(Tensors(Tensor::of<std::int32_t>("v", {3}, {1, 2, 3})))
                              .map(one, add(10))
                              .batch(1)
                              .map({{"v", Type::kInt32, {1}}}, add(100))
                              .map({{"v", Type::kInt32, {1}}}, add(1000));
  EXPECT_EQ(elementAt(dataset, 2).get<std::int32_t>("v")[0], 1113);
}

TEST(Dataset, NamesOfMissingTensorsListThoseThatThereAre) {
  const Dataset dataset = counting(1).map({{"z", Type::kFloat, {}}},
                                          [](ConstTensorRefs from, TensorRefs) { from.get<float>("image"); });
  Tensors element(dataset.spec());
  expectError([&] { dataset.read(0, 0, element); }, ErrorCode::kNotFound,
              "there is no tensor 'image'; there is x: float [2], y: int32 []");
}

TEST(Dataset, ShuffleIsAPermutationByEpochAndSeed) {
  const Dataset dataset = counting(100).shuffle(5);
  std::set<std::vector<int>> orders;
  for (const std::uint64_t epoch : {0U, 1U, 2U}) {
    std::vector<int> order = passOf(dataset, epoch);
    EXPECT_EQ(order, passOf(dataset, epoch));
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, upTo(100));
  }
  orders.insert(passOf(counting(100).shuffle(6)));
  EXPECT_EQ(orders.size(), 4U);
}

TEST(Dataset, ShufflesInABufferWhatComesInSequence) {
  const Dataset dataset = countingSequence(50).shuffleBuffered(10, 3);
  const std::vector<int> order = passOf(dataset);
  EXPECT_EQ(order, passOf(dataset)) << "the same pass again";
  EXPECT_NE(order, passOf(dataset, 1));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_LT(order[i], static_cast<int>(i) + 10);
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, upTo(50));
  EXPECT_NE(order, sorted);
}

TEST(Dataset, ShuffleOfASequenceNamesTheWaysOut) {
  expectError([] { countingSequence(5).shuffle(); }, ErrorCode::kFailedPrecondition,
              "shuffleBuffered(elements, seed)");
  expectError([] { counting(5).repeat().shuffle(); }, ErrorCode::kFailedPrecondition, "before repeat()");
}

TEST(Dataset, ShardsAreTheDatasetTogether) {
  for (const int count : {1, 2, 3, 7, 12}) {
    std::vector<int> all;
    for (int index = 0; index < count; ++index) {
      const Dataset shard = counting(10).shard(count, index);
      const std::vector<int> mine = passOf(shard);
      EXPECT_EQ(mine.size(), *shard.size());
      for (const int element : mine) EXPECT_EQ(element % count, index);
      all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, upTo(10)) << count;
  }
}

TEST(Dataset, BatchesAreFullAndTheRestIsCounted) {
  const Dataset dataset = counting(10).batch(4);
  EXPECT_EQ(textOf(dataset.spec()), "x: float [4, 2], y: int32 [4]");
  EXPECT_EQ(dataset.size(), 2U);
  EXPECT_EQ(dataset.dropped(), 2U);
  EXPECT_EQ(passOf(dataset), upTo(8));
}

TEST(Dataset, PaddedBatchesHaveWeights) {
  const Dataset dataset = counting(5).batch(4, Remainder::kPadWithWeights);
  EXPECT_EQ(dataset.size(), 2U);
  EXPECT_EQ(dataset.dropped(), 0U);
  EXPECT_THAT(weightsAt(dataset, 0), ElementsAre(1, 1, 1, 1));
  const Tensors last = elementAt(dataset, 1);
  EXPECT_THAT(copyOf(last.get<float>(kWeightTensor)), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(copyOf(last.get<float>("x")), ElementsAre(4, 4.5, 0, 0, 0, 0, 0, 0));
}

TEST(Dataset, BatchesOfBatches) {
  const Dataset dataset = counting(13).batch(2).batch(3);
  EXPECT_EQ(dataset.spec()[0].shape, (Shape{3, 2, 2}));
  EXPECT_EQ(passOf(dataset), upTo(12));
  EXPECT_EQ(dataset.dropped(), 1U);
}

TEST(Dataset, RepeatCountsEpochs) {
  const Dataset dataset = counting(5).shuffle(1).repeat(3);
  EXPECT_EQ(dataset.size(), 15U);
  const Dataset once = counting(5).shuffle(1);
  std::vector<int> expected;
  for (const std::uint64_t epoch : {3U, 4U, 5U}) {
    for (const int element : passOf(once, epoch)) expected.push_back(element);
  }
  EXPECT_EQ(passOf(dataset, 1), expected) << "the second pass of three epochs";
}

TEST(Dataset, RepeatForEverNeverEnds) {
  const Dataset dataset = counting(3).repeat();
  EXPECT_EQ(dataset.size(), Dataset::kEndless);
  EXPECT_THAT(testing::elementsIn(elementAt(dataset, 3'000'000'001)), ElementsAre(1));
}

TEST(Dataset, RepeatedSequencesGoOnInTheNextPass) {
  const auto starts = std::make_shared<std::atomic<int>>(0);
  const Dataset dataset = countingSequence(3, starts).repeat(2).batch(2);
  EXPECT_EQ(dataset.size(), std::nullopt);
  EXPECT_THAT(passOf(dataset), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(dataset.size(), 3U) << "known after the first pass";
  EXPECT_EQ(*starts, 2);
}

TEST(Dataset, TakeAndSkip) {
  EXPECT_THAT(passOf(counting(10).skip(2).take(3)), ElementsAre(2, 3, 4));
  EXPECT_EQ(*counting(10).take(20).size(), 10U);
  EXPECT_THAT(passOf(counting(10).skip(20)), IsEmpty());
  EXPECT_EQ(*counting(10).repeat().take(25).size(), 25U);
  EXPECT_THAT(passOf(countingSequence(10).skip(8)), ElementsAre(8, 9));
}

// 4 replicas as 1 x 4, 2 x 2 and 4 x 1 instances.
TEST(Dataset, ReplicasReadTheSameInEverySplitOverInstances) {
  const auto readAll = [](int instances, bool is_sequence) {
    std::vector<std::vector<int>> per_replica(4);
    for (int instance = 0; instance < instances; ++instance) {
      const int local = 4 / instances;
      Dataset source = is_sequence ? countingSequence(101).shuffleBuffered(20, 3) : counting(101).shuffle(3);
      Infeed infeed(std::move(source).batch(5).forReplicas({.pipelines = instances,
                                                            .index = instance,
                                                            .replicas = 4,
                                                            .first_replica = instance * local,
                                                            .local_replicas = local}),
                    {.replicas = local});
      infeed.start({.epoch = 2});
      for (bool any = true; any;) {  // in turns: one replica alone would wait for the others
        any = false;
        for (int replica = 0; replica < local; ++replica) {
          const Tensors* batch = infeed.next(replica);
          if (batch == nullptr) continue;
          any = true;
          auto& mine = per_replica[static_cast<std::size_t>(instance * local + replica)];
          for (const int element : testing::elementsIn(*batch)) mine.push_back(element);
        }
      }
    }
    return per_replica;
  };
  for (const bool is_sequence : {false, true}) {
    const auto one_instance = readAll(1, is_sequence);
    EXPECT_EQ(readAll(2, is_sequence), one_instance);
    EXPECT_EQ(readAll(4, is_sequence), one_instance);
    std::set<int> distinct;
    for (const auto& elements : one_instance) {
      EXPECT_EQ(elements.size(), 25U);
      distinct.insert(elements.begin(), elements.end());
    }
    EXPECT_EQ(distinct.size(), 100U) << "5 steps of 4 replicas x 5 samples";
  }
}

TEST(Dataset, ReplicasHaveTheSameNumberOfSteps) {
  const auto dealt = [](int first, Remainder remainder) {
    return counting(23).batch(3, remainder).forReplicas({.replicas = 3, .first_replica = first});
  };
  EXPECT_EQ(*dealt(0, Remainder::kDrop).size(), 2U);
  EXPECT_EQ(*dealt(2, Remainder::kDrop).size(), 2U);
  EXPECT_EQ(*dealt(0, Remainder::kDrop).dropped(), 5U) << "one batch of three, and two that fill none";
  for (const int first : {0, 1, 2}) EXPECT_EQ(*dealt(first, Remainder::kPadWithWeights).size(), 3U);
  EXPECT_THAT(weightsAt(dealt(2, Remainder::kPadWithWeights), 2), ElementsAre(0, 0, 0))
      << "a replica without samples has a batch all the same";
}

TEST(Dataset, RefusesReplicasThatAreNotThereAndStepsThatAreTooLarge) {
  expectError([] { counting(9).forReplicas({.replicas = 2, .first_replica = 1, .local_replicas = 2}); },
              ErrorCode::kInvalidArgument, "no replicas 1 to 2 of 2");
  expectError([] { counting(10).batch(3).forReplicas({.replicas = 4}); }, ErrorCode::kInvalidArgument,
              "each of 4 replicas (global batch 4 x 3), and the dataset has 3");
}

TEST(Dataset, RefusesArgumentsOutOfRange) {
  const auto invalid = ErrorCode::kInvalidArgument;
  expectError([] { counting(1).batch(0); }, invalid, "a batch of 0 rows");
  expectError([] { counting(1).batch(std::size_t{1} << 62U); }, invalid, "exceeds the address space");
  expectError([] { counting(1).shard(0, 0); }, invalid, "count is 0");
  expectError([] { counting(1).shard(2, 2); }, invalid, "index is 2, expected 0 to 1");
  expectError([] { counting(1).repeat(0); }, invalid, "0 times");
  expectError([] { counting(1).shuffleBuffered(0); }, invalid, "0 elements");
  expectError([] { counting(1).prefetch(0); }, invalid, "the prefetch depth is 0, expected 1 to 255");
  expectError([] { counting(1).prefetch(256); }, invalid, "is 256");
  expectError(
      [] {
        counting(1).map({{"x", Type::kFloat, {}}, {"x", Type::kFloat, {}}}, [](auto, auto) {});
      },
      invalid, "two tensors have the name 'x'");
  expectError([] { counting(1).map({{"x", Type::kFloat, {}}}, nullptr); }, invalid, "no function");
  expectError([] { Dataset::fromSource(nullptr); }, invalid, "no source");
  expectError(
      [] {
        Dataset::fromGenerator({{"x", Type::kFloat, {0}}}, nullptr);
      },
      invalid, "a dimension is 0");
}

TEST(Dataset, MorePassesThanCanBeCountedHaveNoEnd) {
  const Dataset dataset = counting(4).repeat(std::uint64_t{1} << 62U);
  EXPECT_EQ(dataset.size(), Dataset::kEndless);
  Tensors element(dataset.spec());
  EXPECT_TRUE(dataset.read(0, 4'000'000'001, element));
  EXPECT_EQ(testing::elementsIn(element), (std::vector<int>{1}));
  EXPECT_EQ(counting(5).batch(2).repeat(std::uint64_t{1} << 63U).size(), Dataset::kEndless);
  EXPECT_EQ(counting(5).batch(2).repeat(std::uint64_t{1} << 63U).dropped(), 1U) << "of each pass";
  EXPECT_EQ(counting(2).repeat(std::uint64_t{1} << 62U).size(), std::uint64_t{1} << 63U);
}

TEST(Dataset, SkipOfMoreThanThereIsLeavesNothing) {
  const Dataset dataset = counting(4).skip(Dataset::kEndless);
  Tensors element(dataset.spec());
  for (const std::uint64_t index : {0U, 1U, 2U}) EXPECT_FALSE(dataset.read(0, index, element));
}

TEST(Dataset, BatchThatTheDatasetCannotFillIsRefused) {
  expectError([] { counting(3).batch(4); }, ErrorCode::kInvalidArgument,
              "a batch takes 4 elements, and the dataset has 3");
  EXPECT_EQ(counting(3).batch(4, Remainder::kPadWithWeights).size(), 1U);
  EXPECT_EQ(counting(3).take(0).batch(4).size(), 0U);
  EXPECT_EQ(countingSequence(3).batch(4).size(), std::nullopt) << "nobody knows yet";
}

TEST(Dataset, IsConsumedByItsNextStep) {
  Dataset dataset = counting(3);
  const Dataset batched = std::move(dataset).batch(1);
  expectError([&] { dataset.size(); }, ErrorCode::kFailedPrecondition, "cannot be used again");
}

TEST(Dataset, GeneratorsMustGiveTheSameNumberInEachPass) {
  const Dataset dataset =
      Dataset::fromGenerator({{"v", Type::kInt32, {}}}, [](std::uint64_t epoch) -> Generator {
        return [left = 3 + epoch](TensorRefs) mutable { return left-- > 0; };
      });
  Tensors element(dataset.spec());
  for (std::uint64_t i = 0; dataset.read(0, i, element); ++i) {
  }
  EXPECT_EQ(dataset.size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(dataset.read(1, i, element));
  expectError([&] { dataset.read(1, 3, element); }, ErrorCode::kFailedPrecondition, "in epoch 1, and 3");
}

}  // namespace
}  // namespace popdist::io
