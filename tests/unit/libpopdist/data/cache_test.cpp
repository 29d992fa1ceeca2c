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
#include "tests/unit/libpopdist/data/data_files.h"
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/data/idx_files.h"

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

/// Overwritten in place, with as many bytes.
void overwrite(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(-1, std::ios::end);
  const char last = static_cast<char>(file.get());
  file.seekp(-1, std::ios::end);
  file.put(static_cast<char>(last ^ 1));
}

/// `open` makes the dataset of the files `name`0 and `name`1 in a directory; each change of one of them is
/// told, and so is another file of its name.
void expectChangesFound(const std::string& content,
                        const std::function<Dataset(const std::vector<std::filesystem::path>&)>& open) {
  const TempDir dir;
  const std::vector<std::filesystem::path> paths{dir / "0", dir / "1"};
  for (const auto& path : paths) testing::writeText(path, content);
  const auto readCached = [&](const std::string& cache) {
    const Dataset dataset = open(paths).cache(dir / cache);
    Tensors element(dataset.spec());
    return dataset.read(0, 0, element);
  };
  EXPECT_TRUE(readCached("a"));
  EXPECT_TRUE(readCached("a")) << "of what has not changed";
  std::filesystem::copy(paths[1], dir / "new");
  std::filesystem::last_write_time(dir / "new", std::filesystem::last_write_time(paths[1]));
  std::filesystem::rename(dir / "new", paths[1]);
  expectError([&] { readCached("a"); }, ErrorCode::kFailedPrecondition, (dir / "a").string());
  EXPECT_TRUE(readCached("b"));
  overwrite(paths[1]);
  expectError([&] { readCached("b"); }, ErrorCode::kFailedPrecondition, (dir / "b").string());
}

TEST(CacheFile, OfAFileThatHasChangedIsRefused) {
  const Spec spec{{"x", Type::kUint8, {2}}};
  using Paths = std::vector<std::filesystem::path>;
  const testing::Bytes idx = testing::idxFile({2});
  expectChangesFound(std::string(idx.begin(), idx.end()), [](const Paths& paths) {
    return Dataset::idx({{"x", paths[0]}, {"y", paths[1]}});
  });
  expectChangesFound(testing::npyFile(testing::npyDictionary("|u1", "(2,)"), "ab"), [](const Paths& paths) {
    return Dataset::npy({{"x", paths[0]}, {"y", paths[1]}});
  });
  expectChangesFound("a\n1\n2", [](const Paths& paths) {
    return Dataset::csv(paths[1], {.tensors = {{"x", {"a"}}}});
  });
  expectChangesFound(testing::tfRecord("ab") + testing::tfRecord("cd"),
                     [&](const Paths& paths) { return Dataset::tfRecords(paths, spec); });
  expectChangesFound(testing::tarFile("0.x", "ab") + testing::tarEnd(),
                     [&](const Paths& paths) { return Dataset::tar(paths, spec); });
  expectChangesFound("", [&](const Paths& paths) {
    if (std::filesystem::is_empty(paths[1])) writeRecords(counting(3), paths[1]);
    return Dataset::records(paths[1]);
  });
}

TEST(CacheFile, OfALongListOfFilesTellsTheirChanges) {
  const TempDir dir;
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 40; ++i) {
    paths.push_back(dir / (std::to_string(i) + ".tar"));
    testing::writeText(paths.back(), testing::tarFile("0.x", "ab") + testing::tarEnd());
  }
  const auto readCached = [&] {
    const Dataset dataset = Dataset::tar(paths, {{"x", Type::kUint8, {2}}}).cache(dir.path());
    Tensors element(dataset.spec());
    return dataset.read(0, 0, element);
  };
  EXPECT_TRUE(readCached());
  EXPECT_TRUE(readCached());
  overwrite(paths[33]);
  expectError(readCached, ErrorCode::kFailedPrecondition, "40 files");
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
