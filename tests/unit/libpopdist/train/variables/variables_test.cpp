// SPDX-License-Identifier: Apache-2.0
// Values that are reduced when they are written or read, by all instances together.
#include "popdist/variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "popdist/strategy.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<VariableSpec> oneOfEach() {
  return {{.name = "correct"},
          {.name = "mean", .shape = {2}, .aggregation = Aggregation::kMean},
          {.name = "largest", .aggregation = Aggregation::kMax, .initial = -1e9},
          {.name = "step", .sync = Sync::kOnWrite, .aggregation = Aggregation::kMean}};
}

/// A replica's own values, of which additions show their order.
void set(Variables& variables, const Context& context) {
  for (int local = 0; local < context.numLocalReplicas(); ++local) {
    const double replica = context.replicaIndexOffset() + local;
    variables.of(0, local)[0] += 0.1 * (replica + 1);
    variables.of(1, local)[0] = replica / 3;
    variables.of(1, local)[1] = 7;
    variables.of(2, local)[0] = -replica;
  }
}

/// The values that the instances read.
std::vector<double> readAll(const std::vector<int>& split) {
  ThreadGroup group({.replicas_of_instance = split});
  std::mutex mutex;
  std::vector<double> read;
  group.run([&](Context& context) {
    Variables variables(context, oneOfEach());
    set(variables, context);
    std::vector<double> own;
    for (std::size_t variable = 0; variable < variables.size(); ++variable)
      for (const double value : variables.read(variable)) own.push_back(value);
    EXPECT_EQ(variables.at(2, 0)[0], -context.replicaIndexOffset());  // stays its own
    const std::lock_guard lock(mutex);
    if (read.empty()) read = own;
    EXPECT_EQ(own, read);
  });
  return read;
}

TEST(Variables, AreReducedWhenTheyAreReadToTheSameBitsForEverySplit) {
  const std::vector<double> one = readAll({4});
  EXPECT_THAT(one, ElementsAre(::testing::DoubleEq(1.0), ::testing::DoubleEq(0.5), 7, 0, 0));
  EXPECT_EQ(readAll({2, 2}), one);
  EXPECT_EQ(readAll({1, 1, 1, 1}), one);
  EXPECT_EQ(readAll({1, 3}), one);
}

TEST(Variables, AreReducedWhenTheyAreWritten) {
  ThreadGroup group({.replicas_of_instance = {2, 1}});
  group.run([](Context& context) {
    Variables variables(context, oneOfEach());
    const std::vector<double> own =
        context.instanceIndex() == 0 ? std::vector<double>{1, 2} : std::vector<double>{6};
    variables.write(3, own);
    for (int local = 0; local < context.numLocalReplicas(); ++local)
      EXPECT_THAT(variables.at(3, local), ElementsAre(3));
    // Not collective: each instance reads another number of times.
    for (int i = 0; i <= context.instanceIndex(); ++i) EXPECT_THAT(variables.read(3), ElementsAre(3));
    variables.reset(3);
    EXPECT_THAT(variables.read(3), ElementsAre(0));
  });
}

TEST(Variables, ReadsOfDifferentOnesDoNotMatch) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    Variables variables(context, {{.name = "a", .initial = 1}, {.name = "b", .initial = 2}});
    const auto first = static_cast<std::size_t>(context.instanceIndex());
    // One reads a and then b, the other one b first: neither can be answered, and both are told at once.
    EXPECT_EQ(errorCodeOf([&] { variables.read(first); }), ErrorCode::kFailedPrecondition);
  });
}

TEST(Variables, AReadByOneOnlyNamesTheVariableAndWhoIsMissing) {
  ThreadGroup group(3);
  std::mutex mutex;
  int readers = 0;
  group.run([&](Context& context) {
    Variables variables(context, {{.name = "accuracy"}});
    variables.of(0, 0)[0] = 5;
    if (context.instanceIndex() != 1) {
      try {
        variables.read(0, milliseconds(200));
        ADD_FAILURE() << "instance 1 has not read";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
        EXPECT_EQ(error.peer(), 1);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("accuracy"), HasSubstr("not issued by rank 1")));
      }
      const std::lock_guard lock(mutex);
      ++readers;
    }
    context.world().barrier();
    EXPECT_EQ(errorCodeOf([&] { variables.read(0); }), ErrorCode::kDeadlineExceeded);  // too late
    EXPECT_THAT(variables.at(0, 0), ElementsAre(5));
  });
  EXPECT_EQ(readers, 2);
}

TEST(Variables, ACheckpointByOneOnlyIsAnErrorToo) {
  ThreadGroup group({.replicas_of_instance = {1, 1}, .timeout = milliseconds(300)});
  group.run([](Context& context) {
    Variables variables(context, {{.name = "seen"}});
    if (context.instanceIndex() == 0) {
      try {
        variables.pieces();
        ADD_FAILURE() << "instance 1 saves nothing";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("checkpoint"), HasSubstr("seen")));
      }
    }
    context.setTimeout(std::chrono::seconds(20));
    context.world().barrier();
  });
}

TEST(Variables, AreSavedAndLoadedOnAnotherSplitToTheBit) {
  const pop::testing::TempDir directory;
  std::vector<double> saved;
  ThreadGroup({.replicas_of_instance = {2, 2}}).run([&](Context& context) {
    Variables variables(context, oneOfEach());
    set(variables, context);
    variables.write(3, std::vector<double>{4, 4});
    Checkpoints checkpoints(context, {.directory = directory.path()});
    checkpoints.save(shareOf(variables.pieces(), context.instanceIndex(), 2), {.step = 1});
    checkpoints.wait();
    for (std::size_t variable = 0; variable < variables.size(); ++variable) {
      const std::vector<double> read = variables.read(variable);
      if (context.instanceIndex() == 0) saved.insert(saved.end(), read.begin(), read.end());
    }
  });
  ThreadGroup({.replicas_of_instance = {1, 3}}).run([&](Context& context) {
    Variables variables(context, oneOfEach());
    Checkpoints checkpoints(context, {.directory = directory.path()});
    ASSERT_TRUE(checkpoints.resume(variables.piecesToLoad()));
    variables.loaded();
    std::vector<double> read;
    for (std::size_t variable = 0; variable < variables.size(); ++variable)
      for (const double value : variables.read(variable)) read.push_back(value);
    EXPECT_EQ(read, saved);
  });
}

TEST(Variables, TrainersSaveThemWithTheParameters) {
  const pop::testing::TempDir directory;
  const auto run = [&](const std::vector<int>& split, std::uint64_t updates) {
    double seen = 0;
    ThreadGroup({.replicas_of_instance = split}).run([&](Context& context) {
      IpuMultiWorkerStrategy strategy(context);
      Variables variables(context, {{.name = "seen"}});
      Trainer trainer(strategy, regression::parameters(),
                      [&](const MicroBatch& batch) {
                        regression::addGradients(batch, 0.1F);
                        variables.of(0, batch.local_replica)[0] += 1;
                      },
                      sgd(0.01), {.metrics = {"loss"}, .variables = &variables});
      Checkpoints checkpoints(context, {.directory = directory.path()});
      io::Infeed infeed = regression::feed(context, 2);
      if (!trainer.resume(checkpoints, infeed)) trainer.initialise(1);
      trainer.run(infeed, updates);
      trainer.save(checkpoints, infeed);
      checkpoints.wait();
      const double read = variables.read(0).front();
      if (context.instanceIndex() == 0) seen = read;
    });
    return seen;
  };
  EXPECT_EQ(run({2, 2}, 3), 12);
  EXPECT_EQ(run({1, 3}, 2), 20);
  // An evaluation has them as the training left them.
  Context& alone = Context::fromEnvironment();
  SingleStrategy strategy(alone);
  Variables variables(alone, {{.name = "seen"}});
  Trainer trainer(strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(0),
                  {.variables = &variables});
  trainer.load(Checkpoint::newest(directory.path()));
  EXPECT_EQ(variables.read(0).front(), 20);
}

TEST(Variables, RefuseWhatMakesNoSense) {
  Context& context = Context::fromEnvironment();
  const auto make = [&](std::vector<VariableSpec> specs) {
    return errorCodeOf([&] { Variables variables(context, std::move(specs)); });
  };
  EXPECT_EQ(make({{.name = ""}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({{.name = "a"}, {.name = "a"}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({{.name = "a", .shape = {0}}}), ErrorCode::kInvalidArgument);
  Variables variables(context, oneOfEach());
  EXPECT_EQ(variables.find("largest"), 2U);
  EXPECT_EQ(errorCodeOf([&] { variables.find("smallest"); }), ErrorCode::kNotFound);
  EXPECT_EQ(errorCodeOf([&] { variables.of(3, 0); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { variables.of(4, 0); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { variables.at(0, 1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { variables.write(0, std::vector<double>{1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { variables.write(3, std::vector<double>{1, 2}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { variables.read(9); }), ErrorCode::kInvalidArgument);
}

TEST(Variables, InstancesHaveTheSame) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    const Aggregation aggregation = context.instanceIndex() == 0 ? Aggregation::kSum : Aggregation::kMax;
    EXPECT_EQ(errorCodeOf([&] { Variables variables(context, {{.name = "a", .aggregation = aggregation}}); }),
              ErrorCode::kFailedPrecondition);
    const double initial = context.instanceIndex();
    EXPECT_EQ(errorCodeOf([&] { Variables variables(context, {{.name = "a", .initial = initial}}); }),
              ErrorCode::kFailedPrecondition);
  });
}

}  // namespace
}  // namespace popdist::train
