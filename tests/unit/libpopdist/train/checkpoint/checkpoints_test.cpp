// SPDX-License-Identifier: Apache-2.0
// Writing checkpoints: what is on the disk, and when.
#include <atomic>
#include <fstream>

#include "libpopdist/train/checkpoint/checkpoints_impl.h"
#include "tests/unit/libpopdist/train/checkpoint/states.h"

namespace popdist::train {
namespace {

using popdist::testing::ThreadGroup;
using testing::difference;
using testing::expectError;
using testing::expectNewest;
using testing::namesIn;
using testing::QuickDir;
using testing::saveBy;
using testing::shareOf;
using testing::stateOf;
using testing::stateSpec;

/// Stops the writing thread before a step of its work, until it is let go.
class Gate {
 public:
  explicit Gate(std::string at) : at_(std::move(at)) {}

  Watch watch() {
    return [this](const char* next) {
      if (next != at_) return;
      is_reached_ = true;
      is_reached_.notify_all();
      is_open_.wait(false);
    };
  }
  void awaitReached() { is_reached_.wait(false); }
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }

 private:
  std::string at_;
  std::atomic<bool> is_reached_ = false;
  std::atomic<bool> is_open_ = false;
};

TEST(Checkpoints, ConsistOfOneFileForEachInstanceAndAManifest) {
  const pop::testing::TempDir dir;  // a disk, past whose page cache is written
  saveBy(2, dir.path(), {500});
  EXPECT_EQ(namesIn(dir.path()), (std::vector<std::string>{"step-000500", "writer.lock"}));
  EXPECT_EQ(namesIn(dir / "step-000500"),
            (std::vector<std::string>{"manifest.json", "shard-00000-of-00002.safetensors",
                                      "shard-00001-of-00002.safetensors"}));
  expectNewest(dir.path(), 500);
}

TEST(Checkpoints, SnapshotIsNotChangedByLaterUpdates) {
  const QuickDir dir;
  ThreadGroup(1).run([&](Context& context) {
    Gate gate("file");
    Checkpoints checkpoints(std::make_unique<Checkpoints::Impl>(
        context, CheckpointOptions{.directory = dir.path()}, gate.watch()));
    Tensors state = stateOf(1);
    checkpoints.save(Piece::of(state), {.step = 1});
    gate.awaitReached();
    EXPECT_TRUE(checkpoints.isWriting());
    EXPECT_TRUE(checkpointSteps(dir.path()).empty());
    for (std::size_t i = 0; i < state.size(); ++i)
      for (std::byte& byte : state.at(i).bytes()) byte = std::byte{0};
    gate.open();
    checkpoints.wait();
    EXPECT_FALSE(checkpoints.isWriting());
  });
  expectNewest(dir.path(), 1);
}

TEST(Checkpoints, SecondSaveWaitsForTheFirst) {
  const QuickDir dir;
  saveBy(3, dir.path(), {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(checkpointSteps(dir.path()).size(), 8U);
  for (const std::uint64_t step : checkpointSteps(dir.path())) {
    Tensors loaded(stateSpec());
    Checkpoint::open(dir.path(), step).load(Piece::of(loaded));
    EXPECT_EQ(difference(loaded, stateOf(step)), "") << step;
  }
}

TEST(Checkpoints, DestructorWaits) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    Tensors state = stateOf(1);
    Checkpoints(context, {.directory = dir.path()}).save(shareOf(state, context), {.step = 1});
  });
  expectNewest(dir.path(), 1);
}

TEST(Checkpoints, KeepTheNewestOnes) {
  const QuickDir dir;
  saveBy(2, dir.path(), {1, 2, 3, 4, 5}, 2);
  EXPECT_EQ(namesIn(dir.path()), (std::vector<std::string>{"step-000004", "step-000005", "writer.lock"}));
}

TEST(Checkpoints, OfEarlierRunsAreDeletedOnlyIfThisOneResumedFromThem) {
  const QuickDir dir;
  saveBy(1, dir.path(), {1, 2, 3});
  saveBy(1, dir.path(), {4, 5}, 1);
  EXPECT_EQ(checkpointSteps(dir.path()), (std::vector<std::uint64_t>{1, 2, 3, 5}));
  ThreadGroup(1).run([&](Context& context) {
    Tensors state(stateSpec());
    Checkpoints checkpoints(context, {.directory = dir.path(), .keep = 2});
    checkpoints.resume(Piece::of(state));
    checkpoints.save(Piece::of(state), {.step = 6});
  });
  EXPECT_EQ(checkpointSteps(dir.path()), (std::vector<std::uint64_t>{5, 6}));
}

TEST(Checkpoints, ResumeReadsTheNewestIntoAnotherSplit) {
  const QuickDir dir;
  saveBy(4, dir.path(), {1, 2});
  std::atomic<int> resumed = 0;
  ThreadGroup(2).run([&](Context& context) {
    Tensors state(stateSpec());
    Checkpoints checkpoints(context, {.directory = dir.path()});
    const auto at = checkpoints.resume(Piece::of(state));  // replicated: each reads all
    ASSERT_TRUE(at.has_value());
    EXPECT_EQ(*at, (Position{.step = 2, .epoch = 1, .samples = 128, .seed = 7}));
    EXPECT_EQ(difference(state, stateOf(2)), "");
    ++resumed;
  });
  EXPECT_EQ(resumed, 2);
}

TEST(Checkpoints, ResumeSaysThatThereIsNone) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    Tensors state = stateOf(9);
    Checkpoints checkpoints(context, {.directory = dir / "new/deep"});
    EXPECT_FALSE(checkpoints.resume(Piece::of(state)).has_value());
    EXPECT_EQ(difference(state, stateOf(9)), "");
  });
}

TEST(Checkpoints, LayoutMayChangeBetweenSaves) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    Checkpoints checkpoints(context, {.directory = dir.path()});
    Tensors state = stateOf(1);
    checkpoints.prepare(shareOf(state, context));
    checkpoints.save(shareOf(state, context), {.step = 1});
    Tensors more(Tensor::full("large", {300'000}, 2.5));
    checkpoints.save(shareOf(more, context), {.step = 2});
    state = stateOf(3);
    checkpoints.save(shareOf(state, context), {.step = 3});
  });
  expectNewest(dir.path(), 3);
  Tensors more(Tensor::full("large", {300'000}, 0.0));
  Checkpoint::open(dir.path(), 2).load(Piece::of(more));
  EXPECT_EQ(difference(more, Tensors(Tensor::full("large", {300'000}, 2.5))), "");
}

TEST(Checkpoints, LeftoversOfDeadWritersAreRemovedByTheNextWriterOnly) {
  const QuickDir dir;
  saveBy(1, dir.path(), {1});
  const auto partial = dir / "step-000002.partial";
  std::filesystem::create_directories(partial);
  std::ofstream(partial / "shard-00000-of-00001.safetensors") << "half";
  std::filesystem::create_directories(dir / "step-000000.deleted");
  std::filesystem::create_directories(dir / "mine.partial");
  EXPECT_EQ(checkpointSteps(dir.path()), std::vector<std::uint64_t>{1});
  expectNewest(dir.path(), 1);
  EXPECT_TRUE(std::filesystem::exists(partial));
  saveBy(1, dir.path(), {2});
  EXPECT_EQ(namesIn(dir.path()),
            (std::vector<std::string>{"mine.partial", "step-000001", "step-000002", "writer.lock"}));
}

TEST(Checkpoints, DirectoriesWithFilesOfOthersAreNotRemoved) {
  const QuickDir dir;
  std::filesystem::create_directories(dir / "step-000001.partial");
  std::ofstream(dir / "step-000001.partial/notes.txt") << "mine";
  saveBy(1, dir.path(), {2});
  EXPECT_TRUE(std::filesystem::exists(dir / "step-000001.partial/notes.txt"));
}

}  // namespace
}  // namespace popdist::train
