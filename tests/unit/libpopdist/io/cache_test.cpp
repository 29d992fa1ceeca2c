// SPDX-License-Identifier: Apache-2.0
// cache(): what is read twice is read once, in memory and in a file.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/io/datasets.h"

namespace popdist::io {
namespace {

using pop::testing::TempDir;
using testing::counting;
using testing::countingSequence;
using testing::expectError;
using testing::passOf;
using testing::upTo;

TEST(Cache, ReadsEachElementOnce) {
  std::atomic<int> reads = 0;
  const Dataset dataset = counting(20, [&](std::uint64_t) { ++reads; }).cache().shuffle(1);
  std::vector<int> first = passOf(dataset, 0);
  EXPECT_NE(passOf(dataset, 1), first);
  EXPECT_EQ(reads, 20);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, upTo(20));
}

TEST(Cache, ReadsEachElementOnceForManyThreads) {
  std::atomic<int> reads = 0;
  Infeed infeed(counting(1000, [&](std::uint64_t) { ++reads; }).cache().repeat(8).batch(10), {.threads = 8});
  EXPECT_EQ(testing::drain(infeed).size(), 8000U);
  EXPECT_EQ(reads, 1000);
}

TEST(Cache, TriesAgainWhatFailed) {
  std::atomic<bool> fails = true;
  const Dataset dataset = counting(3, [&](std::uint64_t index) {
                            if (fails && index == 1) throw std::runtime_error("bad disk");
                          }).cache();
  Tensors element(dataset.spec());
  EXPECT_TRUE(dataset.read(0, 0, element));
  EXPECT_THROW(dataset.read(0, 1, element), std::runtime_error);
  fails = false;
  EXPECT_EQ(passOf(dataset), upTo(3));
}

TEST(Cache, MakesASequenceAddressable) {
  const auto starts = std::make_shared<std::atomic<int>>(0);
  const Dataset dataset = countingSequence(10, starts).cache().shuffle(2);
  EXPECT_EQ(dataset.size(), 10U);
  passOf(dataset, 0);
  std::vector<int> order = passOf(dataset, 1);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, upTo(10));
  EXPECT_EQ(*starts, 1);
}

TEST(Cache, AfterShuffleKeepsTheFirstOrderAndSaysSoOnce) {
  ::testing::internal::CaptureStderr();
  const Dataset dataset = counting(50).shuffle(1).cache();
  const Dataset other = counting(50).shuffle(1).cache();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(passOf(dataset, 1), passOf(dataset, 0));
}

TEST(Cache, RefusesADatasetWithoutEnd) {
  expectError([] { counting(5).repeat().cache(); }, ErrorCode::kFailedPrecondition, "before repeat()");
  expectError([] { counting(5).repeat().cache("/tmp/never"); }, ErrorCode::kFailedPrecondition,
              "before repeat()");
}

TEST(CacheFile, SecondPassAndSecondRunReadNothingFromTheSource) {
  const TempDir dir;
  std::atomic<int> reads = 0;
  for (int run = 0; run < 2; ++run) {
    const Dataset dataset =
        counting(20, [&](std::uint64_t) { ++reads; }).cache(dir / "deep" / "cache").shuffle(1);
    for (const std::uint64_t epoch : {0U, 1U}) EXPECT_EQ(passOf(dataset, epoch).size(), 20U);
  }
  EXPECT_EQ(reads, 20);
}

TEST(CacheFile, KnowsTheSizeOfASequence) {
  const TempDir dir;
  const auto starts = std::make_shared<std::atomic<int>>(0);
  EXPECT_EQ(passOf(countingSequence(7, starts).cache(dir.path())), upTo(7));
  EXPECT_EQ(countingSequence(7, starts).cache(dir.path()).shuffle().size(), 7U);
  EXPECT_EQ(*starts, 1);
}

TEST(CacheFile, OfSomethingElseIsRefusedByName) {
  const TempDir dir;
  passOf(counting(20).cache(dir.path()));
  expectError([&] { passOf(counting(21).cache(dir.path())); }, ErrorCode::kFailedPrecondition,
              "caches something else: 20 elements");
  expectError([&] { passOf(counting(20).batch(2).cache(dir.path())); }, ErrorCode::kFailedPrecondition,
              (dir / "cache.records").string());
}

TEST(CacheFile, EachShardHasItsOwn) {
  const TempDir dir;
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(passOf(counting(6).shard(2, 0).cache(dir.path())), (std::vector<int>{0, 2, 4}));
    EXPECT_EQ(passOf(counting(6).shard(2, 1).cache(dir.path())), (std::vector<int>{1, 3, 5}));
    EXPECT_EQ(passOf(counting(6).shard(3, 1).cache(dir.path())), (std::vector<int>{1, 4}));
  }
  EXPECT_TRUE(std::filesystem::exists(dir / "cache.shard-1-of-2.records"));
}

TEST(CacheFile, EachPartOfTheReplicasHasItsOwn) {
  const TempDir dir;
  const auto part = [&](int first) {
    return passOf(counting(8)
                      .forReplicas({.replicas = 4, .first_replica = first, .local_replicas = 2})
                      .cache(dir.path()));
  };
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(part(0), (std::vector<int>{0, 1, 4, 5}));
    EXPECT_EQ(part(2), (std::vector<int>{2, 3, 6, 7}));
  }
}

/// The file is of `cached`; `other` has the same tensors and as many elements.
void expectRefused(Dataset cached, Dataset other, const std::string& said) {
  const TempDir dir;
  const Dataset first = std::move(cached).cache(dir.path());
  Tensors element(first.spec());
  ASSERT_TRUE(first.read(0, 0, element));
  expectError([&] { std::move(other).cache(dir.path()).read(0, 0, element); }, ErrorCode::kFailedPrecondition,
              said);
}

Dataset ints(int first) {
  Tensor values({"x", Type::kInt32, {3}});
  for (int i = 0; i < 3; ++i) values.as<std::int32_t>()[static_cast<std::size_t>(i)] = first + i;
  return Dataset::fromSlices(Tensors(std::move(values)));
}

TEST(CacheFile, OfAnotherPipelineIsRefused) {
  expectRefused(counting(6).take(3), counting(6).skip(3), ".skip(3)");
  expectRefused(counting(6).shuffle(1).take(3), counting(6).shuffle(2).take(3), ".shuffle(2)");
  expectRefused(counting(3), counting(3).map(counting(3).spec(), [](auto, auto) {}), ".map(");
  expectRefused(countingSequence(3), countingSequence(3).shuffleBuffered(2, 7), ".shuffleBuffered(2, 7)");
  expectRefused(ints(0), ints(100), "cache.records");
}

TEST(CacheFile, SecondOfAPipelineHasItsOwn) {
  const TempDir dir;
  EXPECT_EQ(passOf(counting(6).cache(dir.path()).skip(2).cache(dir.path())), (std::vector<int>{2, 3, 4, 5}));
}

TEST(CacheFile, OfAnotherFileIsRefused) {
  const TempDir dir;
  writeRecords(counting(4), dir / "a");
  writeRecords(counting(4).shuffle(3), dir / "b");
  expectRefused(Dataset::records(dir / "a"), Dataset::records(dir / "b"), (dir / "b").string());
}

TEST(CacheFile, ThatDoesNotSayWhatItHoldsIsRefused) {
  const TempDir dir;
  writeRecords(counting(4), dir / "cache.records");
  expectError([&] { passOf(counting(4).cache(dir.path())); }, ErrorCode::kFailedPrecondition,
              "does not say what it caches");
}

TEST(CacheFile, IsWrittenByOneWhileOthersWait) {
  const TempDir dir;
  std::atomic<int> reads = 0;
  std::vector<std::thread> instances;
  for (int i = 0; i < 4; ++i) {
    instances.emplace_back([&] {
      EXPECT_EQ(passOf(counting(200, [&](std::uint64_t) { ++reads; }).cache(dir.path())), upTo(200));
    });
  }
  for (std::thread& instance : instances) instance.join();
  EXPECT_EQ(reads, 200);
}

TEST(CacheFile, WaitEndsWithTheInfeed) {
  const TempDir dir;
  const int other = ::open((dir / "cache.records.lock").c_str(), O_RDWR | O_CREAT, 0666);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  {
    Infeed infeed(counting(5).cache(dir.path()));
    infeed.start();
  }
  ::close(other);
}

TEST(CacheFile, FailedSourceLeavesNothing) {
  const TempDir dir;
  expectError(
      [&] {
        passOf(counting(5, [](std::uint64_t index) {
                 if (index == 3) throw popdist_error(ErrorCode::kDataLoss, "record 3 is corrupt");
               }).cache(dir.path()));
      },
      ErrorCode::kDataLoss, "record 3 is corrupt");
  EXPECT_FALSE(std::filesystem::exists(dir / "cache.records"));
  EXPECT_FALSE(std::filesystem::exists(dir / "cache.records.partial"));
}

TEST(CacheFile, FullDiskIsAnErrorAndLeavesNothing) {
  const TempDir dir;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{64 * 1024, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expectError([&] { passOf(counting(100'000).cache(dir.path())); }, ErrorCode::kResourceExhausted,
              "cache.records.partial");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_FALSE(std::filesystem::exists(dir / "cache.records.partial"));
}

}  // namespace
}  // namespace popdist::io
