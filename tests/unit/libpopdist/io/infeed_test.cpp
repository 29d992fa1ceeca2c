// SPDX-License-Identifier: Apache-2.0
// Infeed: the same batches in the same order whatever the prefetching, and clean ends at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <set>

#include "libpopdist/src/io/shard.h"
#include "popdist/error.hpp"
#include "popdist/io.hpp"
#include "tests/testing/refused.h"

namespace popdist::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Sample i has features {i, i + 0.5} and label 3 * i. `before_read` may throw or block.
class CountingDataset final : public Dataset {
 public:
  explicit CountingDataset(std::size_t samples, std::function<void(std::size_t)> before_read = nullptr)
      : samples_(samples), before_read_(std::move(before_read)) {}

  std::size_t size() const override { return samples_; }
  std::size_t featureCount() const override { return 2; }
  void read(std::size_t sample, std::span<float> features, std::int32_t& label) const override {
    if (before_read_) before_read_(sample);
    features[0] = static_cast<float>(sample);
    features[1] = static_cast<float>(sample) + 0.5F;
    label = static_cast<std::int32_t>(3 * sample);
  }

 private:
  std::size_t samples_;
  std::function<void(std::size_t)> before_read_;
};

/// The samples of one epoch, checking what comes with them.
std::vector<std::uint32_t> drain(Infeed& infeed, std::uint64_t epoch) {
  std::vector<std::uint32_t> samples;
  std::size_t step = 0;
  while (const Batch* batch = infeed.next()) {
    EXPECT_EQ(batch->step, step++);
    EXPECT_EQ(batch->epoch, epoch);
    EXPECT_EQ(batch->features.size(), 2 * batch->size());
    for (std::size_t i = 0; i < batch->size(); ++i) {
      const float sample = batch->features[2 * i];
      EXPECT_EQ(batch->features[2 * i + 1], sample + 0.5F);
      EXPECT_EQ(batch->labels[i], static_cast<std::int32_t>(3 * sample));
      samples.push_back(static_cast<std::uint32_t>(sample));
    }
  }
  EXPECT_EQ(step, infeed.stepsPerEpoch());
  return samples;
}

std::vector<std::uint32_t> readEpoch(Infeed& infeed, std::uint64_t epoch) {
  infeed.startEpoch(epoch);
  return drain(infeed, epoch);
}

void expectError(const std::function<void()>& call, ErrorCode code, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "expected an error: " << message;
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(Infeed, OrderIsTheShardsForEveryPrefetchDepth) {
  const auto dataset = std::make_shared<CountingDataset>(500);
  const std::vector<std::uint32_t> expected = trainingSamples({500, 4, 2, 7}, 9, 1);
  for (const int depth : {1, 3, 255}) {
    Infeed infeed(dataset,
                  {.replica = 2, .replicas = 4, .batch_size = 7, .seed = 9, .prefetch_depth = depth});
    EXPECT_EQ(infeed.stepsPerEpoch(), 17U);
    EXPECT_EQ(readEpoch(infeed, 1), expected) << "prefetch_depth " << depth;
  }
}

TEST(Infeed, EpochsFollowEachOther) {
  Infeed infeed(std::make_shared<CountingDataset>(100), {.batch_size = 10, .seed = 1});
  for (const std::uint64_t epoch : {0U, 1U, 0U, 7U}) {
    EXPECT_EQ(readEpoch(infeed, epoch), trainingSamples({100, 1, 0, 10}, 1, epoch));
    EXPECT_EQ(infeed.next(), nullptr) << "the end stays the end";
  }
}

TEST(Infeed, ReplicasReadTheSameInEverySplitOverInstances) {
  const auto read_all = [](const std::vector<std::vector<int>>& instances) {
    std::vector<std::vector<std::uint32_t>> per_replica(4);
    for (const std::vector<int>& replicas : instances) {
      const auto dataset = std::make_shared<CountingDataset>(101);  // one for each instance, as in real life
      std::vector<Infeed> infeeds;
      for (const int replica : replicas) {
        infeeds.emplace_back(dataset,
                             InfeedOptions{.replica = replica, .replicas = 4, .batch_size = 5, .seed = 3});
        infeeds.back().startEpoch(2);
      }
      for (std::size_t i = 0; i < replicas.size(); ++i) {
        per_replica[static_cast<std::size_t>(replicas[i])] = drain(infeeds[i], 2);
      }
    }
    return per_replica;
  };
  const auto one_instance = read_all({{0, 1, 2, 3}});
  EXPECT_EQ(read_all({{0, 1}, {2, 3}}), one_instance);
  EXPECT_EQ(read_all({{0}, {1}, {2}, {3}}), one_instance);
  std::set<std::uint32_t> distinct;
  for (const auto& samples : one_instance) distinct.insert(samples.begin(), samples.end());
  EXPECT_EQ(distinct.size(), 100U) << "5 steps of 4 replicas x 5 samples";
}

TEST(Infeed, EvaluationReadsEverySampleOnce) {
  const auto dataset = std::make_shared<CountingDataset>(10);
  std::vector<std::uint32_t> all;
  for (int replica = 0; replica < 3; ++replica) {
    Infeed infeed(dataset,
                  {.replica = replica, .replicas = 3, .batch_size = 3, .sharding = Sharding::kEvaluation});
    EXPECT_EQ(infeed.stepsPerEpoch(), replica == 0 ? 2U : 1U);
    for (const std::uint64_t epoch : {0U, 1U}) {
      const std::vector<std::uint32_t> mine = readEpoch(infeed, epoch);
      if (epoch == 0) all.insert(all.end(), mine.begin(), mine.end());
    }
  }
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(Infeed, ReplicaWithoutEvaluationSamplesIsAtItsEndAtOnce) {
  Infeed infeed(std::make_shared<CountingDataset>(2),
                {.replica = 2, .replicas = 3, .batch_size = 3, .sharding = Sharding::kEvaluation});
  infeed.startEpoch(0);
  EXPECT_EQ(infeed.next(), nullptr);
}

TEST(Infeed, ReadsAheadByItsDepthAndNoFurther) {
  std::atomic<int> reads = 0;
  std::promise<void> three_read;
  const auto dataset = std::make_shared<CountingDataset>(100, [&](std::size_t) {
    if (++reads == 3) three_read.set_value();
  });
  Infeed infeed(dataset, {.prefetch_depth = 3});
  infeed.startEpoch(0);
  three_read.get_future().wait();  // without next() being called
  EXPECT_EQ(reads, 3) << "the queue is full until next() takes a batch";
  ASSERT_NE(infeed.next(), nullptr);
}

TEST(Infeed, ReusesItsBuffers) {
  Infeed infeed(std::make_shared<CountingDataset>(400), {.batch_size = 2, .prefetch_depth = 3});
  std::set<const float*> buffers;
  for (const std::uint64_t epoch : {0U, 1U}) {
    infeed.startEpoch(epoch);
    while (const Batch* batch = infeed.next()) buffers.insert(batch->features.data());
  }
  EXPECT_LE(buffers.size(), 4U) << "prefetch_depth, and the one that the caller holds";
}

TEST(Infeed, StartingAnEpochDiscardsTheOneInProgress) {
  Infeed infeed(std::make_shared<CountingDataset>(1000), {.batch_size = 5, .seed = 2});
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    infeed.startEpoch(epoch);
    for (std::uint64_t i = 0; i < epoch % 5; ++i) ASSERT_EQ(infeed.next()->epoch, epoch);
  }
  EXPECT_EQ(readEpoch(infeed, 50), trainingSamples({1000, 1, 0, 5}, 2, 50));
}

TEST(Infeed, MayBeDestroyedAtAnyMoment) {
  const auto dataset = std::make_shared<CountingDataset>(100);
  for (int batches = 0; batches <= 11; ++batches) {
    for (const int depth : {1, 3, 255}) {
      Infeed infeed(dataset, {.batch_size = 10, .prefetch_depth = depth});
      if (batches > 0) infeed.startEpoch(0);
      for (int i = 1; i < batches; ++i) infeed.next();
    }
  }
}

TEST(Infeed, AbandonedBatchIsReadNoFurtherThanTheSampleInProgress) {
  std::promise<void> reading;
  std::promise<void> go_on;
  std::atomic<int> reads = 0;
  const auto dataset = std::make_shared<CountingDataset>(100, [&](std::size_t) {
    if (++reads > 1) return;
    reading.set_value();
    go_on.get_future().wait();
  });
  Infeed infeed(dataset, {.batch_size = 100});
  infeed.startEpoch(0);
  reading.get_future().wait();
  infeed.startEpoch(1);
  infeed.startEpoch(2);
  go_on.set_value();
  EXPECT_EQ(infeed.next()->epoch, 2U);
  EXPECT_EQ(reads, 101) << "one sample of epoch 0, then all of epoch 2";
}

TEST(Infeed, MovedInfeedGoesOn) {
  Infeed first(std::make_shared<CountingDataset>(20), {.batch_size = 5});
  first.startEpoch(0);
  const Batch* batch = first.next();
  Infeed second(std::move(first));
  EXPECT_EQ(batch->step, 0U);
  EXPECT_EQ(second.next()->step, 1U);
}

TEST(Infeed, DatasetErrorComesInPlaceOfItsBatchUntilTheNextEpoch) {
  const std::uint32_t bad = trainingSamples({20, 1, 0, 5}, 0, 3)[12];  // in step 2 of epoch 3
  std::atomic<bool> fails = true;
  Infeed infeed(std::make_shared<CountingDataset>(20,
                                                  [&, bad](std::size_t sample) {
                                                    if (fails && sample == bad)
                                                      throw std::runtime_error("bad disk");
                                                  }),
                {.batch_size = 5});
  infeed.startEpoch(3);
  EXPECT_EQ(infeed.next()->step, 0U);
  EXPECT_EQ(infeed.next()->step, 1U);
  for (int again = 0; again < 2; ++again) {
    expectError([&] { infeed.next(); }, ErrorCode::kUnknown,
                "Infeed.next: while reading step 2 of epoch 3 for replica 0: bad disk");
  }
  fails = false;
  EXPECT_EQ(readEpoch(infeed, 3).size(), 20U);
}

TEST(Infeed, ErrorsKeepTheirCode) {
  const auto fail = [](const auto& error, ErrorCode code, const std::string& message) {
    Infeed infeed(std::make_shared<CountingDataset>(1, [&](std::size_t) { throw error; }), {});
    infeed.startEpoch(0);
    expectError([&] { infeed.next(); }, code, message);
  };
  fail(popdist_error(ErrorCode::kDataLoss, "record 7 is corrupt"), ErrorCode::kDataLoss,
       "record 7 is corrupt");
  fail(std::bad_alloc(), ErrorCode::kResourceExhausted, "lower batch_size or prefetch_depth");
  fail(42, ErrorCode::kUnknown, "not a std::exception");
}

TEST(Infeed, NextBeforeTheFirstEpoch) {
  Infeed infeed(std::make_shared<CountingDataset>(1), {});
  expectError([&] { infeed.next(); }, ErrorCode::kFailedPrecondition, "call startEpoch() first");
}

TEST(Infeed, IsOnlyForgottenByAForkedChild) {
  Infeed infeed(std::make_shared<CountingDataset>(10), {.batch_size = 5});
  infeed.startEpoch(0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // it would wait for a thread that it has not got
    const bool refused = popdist::testing::isRefused([&] { infeed.next(); });
    Infeed(std::move(infeed));
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(drain(infeed, 0).size(), 10U);
}

TEST(Infeed, RefusesOptionsOutOfRange) {
  const auto expect_refused = [](const InfeedOptions& options, const std::string& message) {
    const auto dataset = std::make_shared<CountingDataset>(10);
    expectError([&] { const Infeed infeed(dataset, options); }, ErrorCode::kInvalidArgument, message);
  };
  expect_refused({.prefetch_depth = 0}, "prefetch_depth is 0, expected 1 to 255");
  expect_refused({.prefetch_depth = 256}, "prefetch_depth is 256");
  expect_refused({.replicas = 0}, "replicas is 0");
  expect_refused({.replica = -1}, "replica is -1, expected 0 to 0");
  expect_refused({.replica = 2, .replicas = 2}, "replica is 2, expected 0 to 1");
  expect_refused({.batch_size = 0}, "batch_size is 0");
  expect_refused({.replicas = 4, .batch_size = 3},
                 "one training step takes 4 replicas x 3 samples, but the dataset has 10: lower batch_size");
  expectError([] { const Infeed infeed(nullptr, {}); }, ErrorCode::kInvalidArgument, "no dataset");
}

}  // namespace
}  // namespace popdist::io
