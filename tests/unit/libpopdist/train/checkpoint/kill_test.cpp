// SPDX-License-Identifier: Apache-2.0
// Processes that are killed while they write: whatever the moment, the newest checkpoint is complete, and a
// new process goes on from it.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "common/base/random.h"
#include "common/sys/process_end.h"
#include "libpopdist/train/checkpoint/checkpoints_impl.h"
#include "tests/unit/libpopdist/train/checkpoint/states.h"

namespace popdist::train {
namespace {

using popdist::testing::ThreadGroup;
using testing::expectNewest;
using testing::namesIn;
using testing::QuickDir;
using testing::saveBy;
using testing::shareOf;
using testing::stateOf;
using testing::stateSpec;

/// A training of two instances from the newest checkpoint on: each step makes the state of the next one.
/// Saves every step, up to `last`.
void train(const std::string& directory, std::uint64_t last, const Watch& watch) {
  ThreadGroup(2).run([&](Context& context) {
    Checkpoints checkpoints(
        std::make_unique<Checkpoints::Impl>(context, CheckpointOptions{.directory = directory, .keep = 2},
                                            context.instanceIndex() == 0 ? watch : Watch()));
    Tensors state = stateOf(0);
    Position at = checkpoints.resume(Piece::of(state)).value_or(Position{.seed = 7});
    if (testing::difference(state, stateOf(at.step)) != "") ::_exit(3);  // in a child there is no GoogleTest
    while (at.step < last) {
      state = stateOf(++at.step);
      checkpoints.save(shareOf(state, context), at);
    }
    checkpoints.wait();
  });
}

pid_t startTraining(const std::string& directory, std::uint64_t last, const Watch& watch) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    train(directory, last, watch);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ::_exit(2);
  }
  ::_exit(0);
}

int statusOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

class KilledAt : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledAt, NewestStaysCompleteAndTheNextRunGoesOn) {
  const QuickDir dir;
  saveBy(2, dir.path(), {1, 2, 3});
  int times = 0;
  const std::string moment = GetParam();
  const pid_t child = startTraining(dir.path(), 9, [&](const char* next) {
    if (next == moment && ++times == 2) ::kill(::getpid(), SIGKILL);
  });
  const int status = statusOf(child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  const std::uint64_t newest = checkpointSteps(dir.path()).back();
  EXPECT_GE(newest, 4U);
  EXPECT_LE(newest, 6U);
  expectNewest(dir.path(), newest);

  EXPECT_EQ(statusOf(startTraining(dir.path(), 12, {})), 0);
  expectNewest(dir.path(), 12);
  EXPECT_EQ(namesIn(dir.path()), (std::vector<std::string>{"step-000011", "step-000012", "writer.lock"}));
}

INSTANTIATE_TEST_SUITE_P(Moments, KilledAt,
                         ::testing::Values("files", "file", "file is written", "manifest", "sync", "rename",
                                           "sync the name", "prune", "delete"));

TEST(KilledAtRandom, TrainingResumesFromTheNewestUntilItIsDone) {
  const QuickDir dir;
  pop::SplitMix64 random(20261126);
  constexpr std::uint64_t kLast = 60;
  std::uint64_t before = 0;
  std::uint64_t killed = 0;
  while (before < kLast) {  // each one may run for longer than the one before, so that it ends anywhere
    const pid_t child = startTraining(dir.path(), kLast, {});
    const bool has_ended =
        pop::sys::endsWithin(child, std::chrono::milliseconds(5 + 10 * killed + random.below(40)));
    if (!has_ended && ::kill(child, SIGKILL) == 0) ++killed;
    const int status = statusOf(child);
    ASSERT_TRUE(WIFSIGNALED(status) || status == 0) << status;
    const auto steps = checkpointSteps(dir.path());
    if (steps.empty()) continue;
    EXPECT_GE(steps.back(), before);
    before = steps.back();
    expectNewest(dir.path(), before);
  }
  EXPECT_GE(killed, 1U);
}

}  // namespace
}  // namespace popdist::train
