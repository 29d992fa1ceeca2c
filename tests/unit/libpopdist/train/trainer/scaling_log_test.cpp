// SPDX-License-Identifier: Apache-2.0
// The line that a trainer leaves in the file of POPDIST_SCALING_LOG.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "popdist/trainer.hpp"
#include "scaling/row.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

class ScalingLogTest : public ::testing::Test {
 protected:
  ScalingLogTest() { ::setenv("POPDIST_SCALING_LOG", path.c_str(), 1); }
  ~ScalingLogTest() override { ::unsetenv("POPDIST_SCALING_LOG"); }

  Trainer make(int fails_at = -1) {
    return Trainer(strategy, regression::parameters(),
                   [fails_at](const MicroBatch& batch) {
                     if (static_cast<int>(batch.update) == fails_at) throw std::runtime_error("no more");
                     regression::addGradients(batch, 1);
                   },
                   sgd(0.01), {.accumulation = {.count = 2}, .metrics = {"loss"}});
  }

  std::vector<pop::scaling::Row> rows() const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const auto rows = pop::scaling::parseRows(text.str(), path);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    return rows.ok() ? rows.value() : std::vector<pop::scaling::Row>();
  }

  pop::testing::TempDir directory;
  const std::string path = directory / "log";
  Context& context = Context::fromEnvironment();
  SingleStrategy strategy{context};
};

TEST_F(ScalingLogTest, EachTrainerAppendsALine) {
  for (int trainers = 0; trainers < 2; ++trainers) {
    Trainer trainer = make();
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 8);
    trainer.run(infeed, 2);
    trainer.run(infeed, 1);
    infeed.start();
    trainer.evaluate(infeed);
  }
  const std::vector<pop::scaling::Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 2U);
  for (const pop::scaling::Row& row : rows) {
    EXPECT_EQ(row.replicas, 1);
    EXPECT_EQ(row.instances, 1);
    EXPECT_EQ(row.micro_batch, 8);
    EXPECT_EQ(row.accumulation, 2);
    EXPECT_EQ(row.updates, 3);
    EXPECT_GT(row.seconds.all, 0);
    EXPECT_GT(row.seconds.step, 0);
    EXPECT_GT(row.outside.start, 0);
    EXPECT_GT(row.outside.evaluations, 0);
    EXPECT_GE(row.seconds.constant, row.outside.start + row.outside.evaluations);
  }
}

TEST_F(ScalingLogTest, CountsTheUpdatesBeforeAnError) {
  {
    Trainer trainer = make(2);
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 8);
    EXPECT_THROW(trainer.run(infeed, 3), std::runtime_error);
  }
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(rows()[0].updates, 2);
}

TEST_F(ScalingLogTest, ATrainerThatNeverRanHasNoUpdates) {
  make();
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(rows()[0].updates, 0);
}

TEST_F(ScalingLogTest, NothingIsWrittenWhereNobodyAsks) {
  ::unsetenv("POPDIST_SCALING_LOG");
  make();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ScalingLogTest, SaysOnStderrWhyItCannot) {
  ::setenv("POPDIST_SCALING_LOG", (path + "/no/log").c_str(), 1);
  ::testing::internal::CaptureStderr();
  make();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(path + "/no/log"), std::string::npos) << said;
  EXPECT_NE(said.find("POPDIST_SCALING_LOG"), std::string::npos) << said;
}

TEST_F(ScalingLogTest, HasTheTimesOfAPod) {
  popdist::testing::ThreadGroup group({.replicas_of_instance = {2, 2}});
  SimulatedTime collectives{0};
  SimulatedTime estimate{0};
  group.run([&](Context& of_thread) {
    PopDistStrategy pods(of_thread);
    Trainer trainer(pods, regression::parameters(),
                    [](const MicroBatch& batch) { regression::addGradients(batch, 1); }, sgd(0.01),
                    {.metrics = {"loss"}});
    trainer.parametersOf(0);  // zeros: initialise() is a collective, too
    io::Infeed infeed = regression::feed(of_thread, 2);
    trainer.run(infeed, 3);
    if (of_thread.instanceIndex() != 0) return;
    collectives = pods.pod().collectiveTime();
    estimate = pods.pod().allReduceEstimate(128);  // two tensors of a line each
  });
  ASSERT_EQ(rows().size(), 1U);
  const auto seconds = [](SimulatedTime time) { return std::chrono::duration<double>(time).count(); };
  EXPECT_DOUBLE_EQ(rows()[0].pod.collectives, seconds(collectives));
  EXPECT_DOUBLE_EQ(rows()[0].pod.all_reduce_estimate, 3 * seconds(estimate));
  EXPECT_GT(rows()[0].pod.collectives, rows()[0].pod.all_reduce_estimate);
}

}  // namespace
}  // namespace popdist::train
