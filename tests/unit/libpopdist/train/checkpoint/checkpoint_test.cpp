// SPDX-License-Identifier: Apache-2.0
// Reading checkpoints: any split of what any split has saved.
#include <atomic>
#include <cstring>
#include <fstream>

#include "tests/testing/file_text.h"
#include "tests/unit/libpopdist/train/checkpoint/states.h"

namespace popdist::train {
namespace {

using popdist::testing::ThreadGroup;
using testing::difference;
using testing::expectError;
using testing::expectNewest;
using testing::QuickDir;
using testing::saveBy;
using testing::stateOf;
using testing::stateSpec;

TEST(Checkpoint, EverySplitReadsWhatEverySplitHasSaved) {
  const QuickDir dir;
  std::uint64_t step = 0;
  for (const int writers : {1, 2, 3, 4}) {
    saveBy(writers, dir.path(), {++step});
    for (const int readers : {1, 2, 4, 5}) {
      Tensors whole(stateSpec());
      for (int reader = 0; reader < readers; ++reader)
        Checkpoint::newest(dir.path()).load(shareOf(Piece::of(whole), reader, readers));
      EXPECT_EQ(difference(whole, stateOf(step)), "") << writers << " to " << readers;
    }
  }
}

TEST(Checkpoint, SaysWhereTheTrainingWas) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    Tensors state = stateOf(3);
    Checkpoints checkpoints(context, {.directory = dir.path()});
    const std::string own = std::to_string(context.instanceIndex());
    checkpoints.save(testing::shareOf(state, context),
                     {.step = 3, .epoch = 1, .samples = 640, .seed = UINT64_MAX, .values = {{"own", own}}});
  });
  const Checkpoint checkpoint = Checkpoint::open(dir.path(), 3);
  EXPECT_EQ(checkpoint.position(), (Position{3, 1, 640, UINT64_MAX, {{"own", "0"}}}));
  EXPECT_EQ(checkpoint.tensors().size(), stateSpec().size());
  EXPECT_EQ(textOf(checkpoint.tensors()[0]), "adam.m/dense.w: float [37, 5]");
}

TEST(Checkpoint, ReadsSingleElements) {
  const QuickDir dir;
  saveBy(3, dir.path(), {1});
  const Checkpoint checkpoint = Checkpoint::newest(dir.path());
  const Tensors expected = stateOf(1);
  for (std::size_t element = 0; element < 37 * 5; ++element) {
    float value = 0;
    checkpoint.load(std::vector<Piece>{
        {"dense.w", Type::kFloat, {37, 5}, element, std::as_writable_bytes(std::span(&value, 1))}});
    ASSERT_EQ(std::memcmp(&value, &expected.get<float>("dense.w")[element], sizeof value), 0) << element;
  }
}

TEST(Checkpoint, WholeTensorsHaveTheirOwnNamesAndShapesInTheFile) {
  const QuickDir dir;
  saveBy(1, dir.path(), {1});
  const std::string file = pop::testing::fileText(dir / "step-000001/shard-00000-of-00001.safetensors");
  EXPECT_THAT(file.substr(8, 4000),
              ::testing::HasSubstr(R"("dense.w":{"dtype":"F32","shape":[37,5],"data_offsets":)"));
  saveBy(2, dir.path(), {2});
  const std::string half = pop::testing::fileText(dir / "step-000002/shard-00001-of-00002.safetensors");
  EXPECT_THAT(half.substr(8, 4000), ::testing::HasSubstr(R"("adam.m/dense.w@)"));
}

TEST(Checkpoint, TensorsThatAreNotThereOrDifferAreNamed) {
  const QuickDir dir;
  saveBy(2, dir.path(), {1});
  const Checkpoint checkpoint = Checkpoint::newest(dir.path());
  const auto load = [&](TensorSpec spec) {
    Tensors tensors{Spec{std::move(spec)}};
    checkpoint.load(Piece::of(tensors));
  };
  expectError([&] { load({"dense.c", Type::kFloat, {5}}); }, ErrorCode::kNotFound, "'dense.b'");
  expectError(
      [&] {
        load({"dense.w", Type::kDouble, {37, 5}});
      },
      ErrorCode::kInvalidArgument, "has dense.w: float [37, 5], asked for dense.w: double [37, 5]");
  expectError([&] { load({"dense.w", Type::kFloat, {5, 37}}); }, ErrorCode::kInvalidArgument, "[5, 37]");
}

TEST(Checkpoint, NewestIsTheHighestCompleteStep) {
  const QuickDir dir;
  expectError([&] { Checkpoint::newest(dir / "nowhere"); }, ErrorCode::kNotFound, "no complete checkpoint");
  EXPECT_TRUE(checkpointSteps(dir / "nowhere").empty());
  saveBy(1, dir.path(), {9, 10, 1'234'567});
  for (const char* name : {"step-1", "step-2000000.partial", "step-2000001", "step-0000003", "other"})
    std::filesystem::create_directory(dir / name);
  EXPECT_EQ(checkpointSteps(dir.path()), (std::vector<std::uint64_t>{9, 10, 1'234'567}));
  expectNewest(dir.path(), 1'234'567);
  EXPECT_EQ(Checkpoint::open(dir.path(), 10).position().step, 10U);
  expectError([&] { Checkpoint::open(dir.path(), 11); }, ErrorCode::kNotFound, "those of 9, 10, 1234567");
}

TEST(Checkpoint, ThatHasLostItsManifestDoesNotBlockItsStep) {
  const QuickDir dir;
  for (int time = 0; time < 2; ++time) {
    saveBy(2, dir.path(), {5});
    expectNewest(dir.path(), 5);
    std::filesystem::remove(dir / "step-000005" / "manifest.json");
  }
  saveBy(2, dir.path(), {5});
  expectNewest(dir.path(), 5);
  EXPECT_THAT(testing::namesIn(dir.path()),
              ::testing::ElementsAre("step-000005", "step-000005.incomplete", "writer.lock"));
}

TEST(Checkpoint, CanBeReadToItsEndWhenItIsDeleted) {
  const QuickDir dir;
  saveBy(2, dir.path(), {1});
  const Checkpoint open = Checkpoint::newest(dir.path());
  std::filesystem::remove_all(dir / "step-000001");
  Tensors loaded(stateSpec());
  open.load(Piece::of(loaded));
  EXPECT_EQ(difference(loaded, stateOf(1)), "");
}

TEST(Checkpoint, EvaluatorsFollowATrainingThatDeletesWhatIsOld) {
  const QuickDir dir;
  constexpr std::uint64_t kLast = 30;
  std::atomic<int> seen = 0;
  ThreadGroup(2).run([&](Context& context) {
    if (context.instanceIndex() == 0) {
      // It writes alone, in a job of its own; the other one evaluates.
      saveBy(
          1, dir.path(),
          [] {
            std::vector<std::uint64_t> steps;
            for (std::uint64_t step = 1; step <= kLast; ++step) steps.push_back(step);
            return steps;
          }(),
          1);
      return;
    }
    std::optional<std::uint64_t> last;
    while (last != kLast) {
      const auto next = Checkpoint::waitForNewer(dir.path(), last, std::chrono::seconds(20));
      ASSERT_TRUE(next.has_value());
      ASSERT_TRUE(!last || next->position().step > *last);
      last = next->position().step;
      Tensors loaded(stateSpec());
      next->load(Piece::of(loaded));
      EXPECT_EQ(difference(loaded, stateOf(*last)), "");
      ++seen;
    }
  });
  EXPECT_GE(seen, 1);
}

TEST(Checkpoint, WaitingForANewerOneEnds) {
  const QuickDir dir;
  saveBy(1, dir.path(), {5});
  EXPECT_FALSE(Checkpoint::waitForNewer(dir.path(), 5, std::chrono::milliseconds(1)).has_value());
  EXPECT_FALSE(Checkpoint::waitForNewer(dir / "nowhere", {}, std::chrono::milliseconds(1)).has_value());
  EXPECT_TRUE(Checkpoint::waitForNewer(dir.path(), 4, std::chrono::milliseconds(1)).has_value());
  EXPECT_TRUE(Checkpoint::waitForNewer(dir.path(), {}, std::chrono::milliseconds::max()).has_value());
}

}  // namespace
}  // namespace popdist::train
