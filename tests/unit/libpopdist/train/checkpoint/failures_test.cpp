// SPDX-License-Identifier: Apache-2.0
// Checkpoints that fail: all instances hear of it, and the one before stays.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <fstream>

#include "libpopdist/train/checkpoint/checkpoints_impl.h"
#include "tests/unit/libpopdist/train/checkpoint/states.h"

namespace popdist::train {
namespace {

using popdist::testing::ThreadGroup;
using testing::expectError;
using testing::expectNewest;
using testing::namesIn;
using testing::QuickDir;
using testing::saveBy;
using testing::shareOf;
using testing::stateOf;
using testing::stateSpec;

/// Instances save step 1, then step 2 by `save`, which fails, and then step 3. All hear of it, once.
template <typename Save>
void expectSecondFails(
    const QuickDir& dir, ErrorCode code, const std::string& text, const Save& save,
    const std::function<void()>& repair = [] {}) {
  std::atomic<int> heard = 0;
  ThreadGroup(3).run([&](Context& context) {
    Checkpoints checkpoints(context, {.directory = dir.path()});
    Tensors state = stateOf(1);
    checkpoints.save(shareOf(state, context), {.step = 1});
    checkpoints.wait();
    const auto save_and_wait = [&] {
      save(context, checkpoints);
      checkpoints.wait();
    };
    expectError(save_and_wait, code, text);
    ++heard;
    checkpoints.wait();
    context.fence();
    EXPECT_EQ(checkpointSteps(dir.path()), std::vector<std::uint64_t>{1});
    context.fence();
    if (context.instanceIndex() == 0) repair();
    context.fence();
    state = stateOf(3);
    checkpoints.save(shareOf(state, context), {.step = 3});
    checkpoints.wait();
  });
  EXPECT_EQ(heard, 3);
  expectNewest(dir.path(), 3);
  EXPECT_EQ(namesIn(dir.path()), (std::vector<std::string>{"step-000001", "step-000003", "writer.lock"}));
}

TEST(CheckpointFailure, OverlapsAreNamedOnAllInstances) {
  const QuickDir dir;
  expectSecondFails(dir, ErrorCode::kInvalidArgument, "two pieces", [](Context&, Checkpoints& checkpoints) {
    Tensors state = stateOf(2);
    checkpoints.save(Piece::of(state), {.step = 2});
  });
}

TEST(CheckpointFailure, GapsAreNamedOnAllInstances) {
  const QuickDir dir;
  expectSecondFails(dir, ErrorCode::kInvalidArgument, "in no piece",
                    [](Context& context, Checkpoints& checkpoints) {
                      Tensors state = stateOf(2);
                      auto pieces = shareOf(state, context);
                      if (context.instanceIndex() == 1) pieces.pop_back();
                      checkpoints.save(pieces, {.step = 2});
                    });
}

TEST(CheckpointFailure, PositionsThatDifferAreNamed) {
  const QuickDir dir;
  expectSecondFails(dir, ErrorCode::kInvalidArgument, "instance 2 at step 2, epoch 0, 1 sample",
                    [](Context& context, Checkpoints& checkpoints) {
                      Tensors state = stateOf(2);
                      checkpoints.save(shareOf(state, context),
                                       {.step = 2, .samples = context.instanceIndex() == 2 ? 1U : 0U});
                    });
}

TEST(CheckpointFailure, StepsThatAreNotAboveTheNewestAreRefused) {
  const QuickDir dir;
  expectSecondFails(dir, ErrorCode::kAlreadyExists, "instance 0: there is a checkpoint of step 1 already",
                    [](Context& context, Checkpoints& checkpoints) {
                      Tensors state = stateOf(2);
                      checkpoints.save(shareOf(state, context), {.step = 1});
                    });
}

TEST(CheckpointFailure, WrongArgumentsOfOneInstanceAreHeardByAll) {
  const QuickDir dir;
  expectSecondFails(dir, ErrorCode::kInvalidArgument, "a piece of 185 elements",
                    [](Context& context, Checkpoints& checkpoints) {
                      Tensors state = stateOf(2);
                      auto pieces = shareOf(state, context);
                      if (context.instanceIndex() == 1) {
                        pieces = {Piece::of(state["dense.w"])};
                        pieces[0].first = 1;
                      }
                      checkpoints.save(pieces, {.step = 2});
                    });
}

// All instances fail at the same call, whether they wait after each save or not: one that fails earlier would
// be a save ahead of the others from then on.
TEST(CheckpointFailure, OfOneInstancesPiecesIsHeardByAllAtTheSameCall) {
  for (const bool waits : {true, false}) {
    const QuickDir dir;
    ThreadGroup(2).run([&](Context& context) {
      Checkpoints checkpoints(context, {.directory = dir.path()});
      Tensors state = stateOf(1);
      std::vector<std::uint64_t> failed;
      for (std::uint64_t step = 1; step <= 5; ++step) {
        std::vector<Piece> pieces = shareOf(state, context);
        if (step == 2 && context.instanceIndex() == 1) pieces[0].first = 100'000;
        try {
          checkpoints.save(pieces, {.step = step});
          if (waits) checkpoints.wait();
        } catch (const popdist_error& error) {
          failed.push_back(step);
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
          EXPECT_THAT(error.what(), ::testing::HasSubstr("over the end"));
        }
      }
      EXPECT_EQ(failed, std::vector<std::uint64_t>{waits ? 2U : 3U});
    });
    // The call that throws what became of step 2 saves nothing.
    const std::string before = waits ? "step-000003" : "step-000001";
    EXPECT_EQ(namesIn(dir.path()),
              (std::vector<std::string>{before, "step-000004", "step-000005", "writer.lock"}));
  }
}

TEST(CheckpointFailure, OfPiecesIsHeardAtOnceByAnInstanceAlone) {
  const QuickDir dir;
  ThreadGroup(1).run([&](Context& context) {
    Checkpoints checkpoints(context, {.directory = dir.path()});
    Tensors state = stateOf(1);
    std::vector<Piece> pieces = Piece::of(state);
    pieces[0].first = 100'000;
    expectError([&] { checkpoints.save(pieces, {.step = 1}); }, ErrorCode::kInvalidArgument, "over the end");
    checkpoints.save(Piece::of(state), {.step = 1});
  });
  expectNewest(dir.path(), 1);
}

TEST(CheckpointFailure, IsADirectoryOfEachInstance) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    const std::string own = dir.path() + "/" + std::to_string(context.instanceIndex());
    expectError([&] { const Checkpoints made(context, {.directory = own}); }, ErrorCode::kFailedPrecondition,
                "CheckpointOptions::directory is " + dir.path() + "/0 on instance 0");
  });
}

TEST(CheckpointFailure, IsThrownByTheNextSave) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    Checkpoints checkpoints(context, {.directory = dir.path()});
    Tensors state = stateOf(2);
    checkpoints.save(Piece::of(state), {.step = 1});
    expectError([&] { checkpoints.save(shareOf(state, context), {.step = 2}); }, ErrorCode::kInvalidArgument,
                "the checkpoint of step 1 in");
    checkpoints.save(shareOf(state, context), {.step = 2});
  });
  expectNewest(dir.path(), 2);
}

TEST(CheckpointFailure, IsSaidOnStderrIfNobodyAsks) {
  const QuickDir dir;
  ::testing::internal::CaptureStderr();
  ThreadGroup(2).run([&](Context& context) {
    Tensors state = stateOf(2);
    Checkpoints(context, {.directory = dir.path()}).save(Piece::of(state), {.step = 1});
  });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("popdist: Checkpoints: the checkpoint of step 1 in"));
}

TEST(CheckpointFailure, OfOneInstancesFileSparesTheOneBefore) {
  const QuickDir dir;
  // The second instance's file cannot be written: something else has its name.
  const auto watch = [&](Context& context) -> Watch {
    if (context.instanceIndex() != 1) return {};
    return [&](const char* next) {
      const auto partial = dir / "step-000002.partial";
      if (next == std::string("file") && std::filesystem::exists(partial))
        std::filesystem::create_directory(partial / "shard-00001-of-00002.safetensors");
    };
  };
  ThreadGroup(2).run([&](Context& context) {
    Checkpoints checkpoints(std::make_unique<Checkpoints::Impl>(
        context, CheckpointOptions{.directory = dir.path()}, watch(context)));
    Tensors state = stateOf(1);
    checkpoints.save(shareOf(state, context), {.step = 1});
    checkpoints.save(shareOf(state, context), {.step = 2});
    expectError([&] { checkpoints.wait(); }, ErrorCode::kAlreadyExists,
                "instance 1: cannot create '" + (dir / "step-000002.partial").string());
  });
  expectNewest(dir.path(), 1);
}

/// Files of this process may not become longer, as on a disk that is full.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { lift(); }
  void lift() const { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(CheckpointFailure, DiskThatTakesNoMoreIsNamedWithWhatToDo) {
  const QuickDir dir;
  std::optional<FileLimit> limit;
  expectSecondFails(
      dir, ErrorCode::kResourceExhausted, "ulimit -f",
      [&](Context& context, Checkpoints& checkpoints) {
        context.fence();
        if (context.instanceIndex() == 0) limit.emplace(2048);
        context.fence();
        Tensors state = stateOf(2);
        checkpoints.save(shareOf(state, context), {.step = 2});
      },
      [&] { limit.reset(); });
}

TEST(CheckpointLock, SecondWriterIsToldWhoTheFirstIs) {
  const QuickDir dir;
  ThreadGroup(1).run([&](Context& context) {
    const Checkpoints first(context, {.directory = dir.path()});
    ThreadGroup(2).run([&](Context& other) {
      expectError([&] { Checkpoints(other, {.directory = dir.path()}); }, ErrorCode::kFailedPrecondition,
                  "is written by process " + std::to_string(::getpid()) + " on ");
    });
  });
  saveBy(1, dir.path(), {1});  // the lock went with its owner
}

TEST(CheckpointOptions, AreCheckedOnAllInstancesAlike) {
  const QuickDir dir;
  ThreadGroup(2).run([&](Context& context) {
    expectError([&] { Checkpoints(context, {.directory = ""}); }, ErrorCode::kInvalidArgument,
                "no directory");
    const int keep = context.instanceIndex() == 1 ? -1 : 1;
    expectError([&] { Checkpoints(context, {.directory = dir.path(), .keep = keep}); },
                ErrorCode::kInvalidArgument, "instance 1: keep is -1");
    std::ofstream(dir / "file") << "x";
    expectError([&] { Checkpoints(context, {.directory = dir / "file/below"}); }, ErrorCode::kUnknown,
                "file/below");
  });
}

TEST(CheckpointFailure, OfAnotherInstanceEndsTheObject) {
  const QuickDir dir;
  ThreadGroup group(2);
  group.run([&](Context& context) {
    Checkpoints checkpoints(context, {.directory = dir.path()});
    Tensors state = stateOf(1);
    if (context.instanceIndex() == 1) return group.end(1, false, "killed");
    checkpoints.save(shareOf(state, context), {.step = 1});
    expectError([&] { checkpoints.wait(); }, ErrorCode::kUnavailable, "the checkpoint of step 1");
    expectError([&] { checkpoints.wait(); }, ErrorCode::kFailedPrecondition, "make a new object");
  });
  EXPECT_TRUE(checkpointSteps(dir.path()).empty());
}

}  // namespace
}  // namespace popdist::train
