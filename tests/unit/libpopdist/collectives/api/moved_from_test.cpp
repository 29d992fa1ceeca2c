// SPDX-License-Identifier: Apache-2.0
// Objects that were moved from say so, and can be used again once something is assigned to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "popdist/async.hpp"
#include "popdist/checkpoint.hpp"
#include "popdist/error.hpp"
#include "popdist/fused.hpp"
#include "popdist/outfeed.hpp"
#include "popdist/pipeline.hpp"
#include "popdist/popart_horovod.hpp"
#include "popdist/trainer.hpp"
#include "popdist/variables.hpp"
#include "popdist/weight_update.hpp"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist {
namespace {

using popdist::testing::ThreadGroup;
using ::testing::HasSubstr;
namespace regression = train::regression;

void alone(const std::function<void(Context&)>& body) {
  ThreadGroup(1).run(body);
}

/// `call` works, then on a moved-from object it does not, and then it does again.
template <typename Object, typename Call>
void expectSaid(Object object, const std::string& type, const Call& call) {
  SCOPED_TRACE(type);
  call(object);
  Object taken = std::move(object);
  try {
    call(object);  // NOLINT: what is tested
    ADD_FAILURE() << "it does not throw";
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(error.what(), HasSubstr("this " + type + " was moved from"));
  }
  object = std::move(taken);
  call(object);
}

TEST(MovedFrom, CommunicatorsSayIt) {
  alone([](Context& context) {
    Communicator one = std::move(*context.createCommunicator({0}));
    expectSaid(std::move(one), "Communicator", [](Communicator& c) { c.barrier(); });
    AsyncCommunicator by_name(context.createCommunicator({0}));
    expectSaid(std::move(by_name), "AsyncCommunicator", [](AsyncCommunicator& c) { c.barrier("a").wait(); });
    AsyncCommunicator calls(context.createCommunicator({0}));
    std::array<float, 4> data{};
    expectSaid(FusedAllReduce(context, calls, "gradients", {{"w", data.data(), data.size(), Type::kFloat}}),
               "FusedAllReduce", [](FusedAllReduce& f) { f.reduce(); });
  });
}

TEST(MovedFrom, FeedsSayIt) {
  expectSaid(io::Infeed(regression::samples().batch(2)), "Infeed", [](io::Infeed& feed) { feed.next(); });
  expectSaid(io::Outfeed(), "Outfeed", [](io::Outfeed& feed) { feed.enqueue("loss", 1.0F); });
}

TEST(MovedFrom, WhatTrainsSaysIt) {
  alone([](Context& context) {
    train::IpuHorovodStrategy strategy(context);
    train::Trainer trainer(
        strategy, regression::parameters(), [](const train::MicroBatch&) {}, train::sgd(0.1));
    expectSaid(std::move(trainer), "Trainer", [](train::Trainer& t) { t.initialise(1); });
    const Spec spec = regression::parameters().spec();
    expectSaid(train::WeightUpdate(context, spec, spec, train::sgd(0.1)), "WeightUpdate",
               [](train::WeightUpdate& u) { u.state(); });
    expectSaid(train::Variables(context, {{.name = "a"}}), "Variables",
               [](train::Variables& v) { v.read(0); });
    popart::Model model;
    model.weights.add("w", {1});
    model.values = {{"number", Type::kFloat, {1}}};
    model.stages = {{.name = "number", .forward = [](const popart::Batch&) {}}};
    expectSaid(popart::Session(context, model, {1, {}}, {}, popart::Mode::kInference), "Session",
               [](popart::Session& s) { s.weights(); });
  });
}

TEST(MovedFrom, PipelinesSayIt) {
  const auto stage = [](const char* name, const char* output) {
    return train::Stage{.name = name, .outputs = {{output, Type::kFloat, {1}}}, .forward = [](train::Io&) {}};
  };
  expectSaid(train::Pipeline(
                 {.stages = {stage("first", "y"), stage("second", "z")}, .gradient_accumulation_count = 2}),
             "Pipeline", [](train::Pipeline& p) { p.describe(); });
}

TEST(MovedFrom, CheckpointsSayIt) {
  const pop::testing::TempDir directory;
  alone([&](Context& context) {
    train::Checkpoints checkpoints(context, {.directory = directory.path()});
    std::array<float, 1> value{};
    const train::Piece piece{
        .name = "w", .type = Type::kFloat, .shape = {1}, .bytes = std::as_writable_bytes(std::span(value))};
    checkpoints.save(std::span(&piece, 1), {.step = 1});
    checkpoints.wait();
  });
  expectSaid(train::Checkpoint::newest(directory.path()), "Checkpoint",
             [](train::Checkpoint& c) { c.position(); });
}

}  // namespace
}  // namespace popdist
