// SPDX-License-Identifier: Apache-2.0
// Bytes on an IPU: whole tensors, parts of them, what is offloaded, and what does not fit.
#include "popdist/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

Parameters ofElements(std::size_t elements) {
  Parameters parameters;
  parameters.add("w", {elements});
  return parameters;
}

const MemoryRow& rowOf(const MemoryPlan& plan, const std::string& what) {
  for (const MemoryRow& row : plan.rows)
    if (row.what == what) return row;
  ADD_FAILURE() << "no row " << what;
  return plan.rows.front();
}

TEST(MemoryPlan, CountsEachClassOfTensors) {
  const MemoryPlan plan =
      planMemory(ofElements(1000), adam({}), {.activation_bytes = 77, .exchange_code_bytes = 0});
  EXPECT_EQ(rowOf(plan, "parameters").in_processor, 4000U);
  EXPECT_EQ(rowOf(plan, "gradients of a micro-batch").in_processor, 4000U);
  EXPECT_EQ(rowOf(plan, "adam.m").in_processor, 4000U);
  EXPECT_EQ(rowOf(plan, "adam.v").in_processor, 4000U);
  EXPECT_EQ(rowOf(plan, "activations").in_processor, 77U);
  EXPECT_EQ(plan.in_processor, 16077U);
  EXPECT_EQ(plan.streaming, 0U);
  EXPECT_EQ(plan.streamed_per_update, 0U);
}

TEST(MemoryPlan, CountsAccumulatorsOfTheirType) {
  Parameters halves;
  halves.add("w", {1000}, constant(0), Type::kHalf);
  const MemoryPlan plan =
      planMemory(halves, castGradients(sgd(1)), {.accumulation = {.count = 4, .type = Type::kFloat}});
  EXPECT_EQ(rowOf(plan, "parameters").in_processor, 2000U);
  EXPECT_EQ(rowOf(plan, "accumulators").in_processor, 4000U);
}

TEST(MemoryPlan, RefusesSumsBeyondAllMemory) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto code = [](const MemoryPlanOptions& options) {
    return errorCodeOf([&] { planMemory(ofElements(1'000'000), adam({}), options); });
  };
  EXPECT_EQ(code({.activation_bytes = most - 1000}), ErrorCode::kResourceExhausted);
  EXPECT_EQ(code({.replicas = 4, .exchange_code_bytes = most / 2}), ErrorCode::kResourceExhausted);
  EXPECT_EQ(code({.streaming_bytes_per_s = 0}), ErrorCode::kInvalidArgument);
}

TEST(MemoryPlan, DividesStateByTheReplicasThatShareIt) {
  for (const int shared : {2, 4, 8, 16}) {
    const MemoryPlan plan =
        planMemory(ofElements(1'000'000), adam({}), {.replicas = 16, .replicas_per_state = shared});
    EXPECT_EQ(rowOf(plan, "adam.m").in_processor, 4'000'000U / static_cast<unsigned>(shared));
  }
}

// Tensors of less than 32 floats a part stay whole.
TEST(MemoryPlan, CutsTensorsOf128BytesAPartAndRoundsUp) {
  const auto stateOf = [](std::size_t elements) {
    return rowOf(planMemory(ofElements(elements), momentum({}), {.replicas = 4, .replicas_per_state = 4}),
                 "momentum.velocity")
        .in_processor;
  };
  EXPECT_EQ(stateOf(1), 4U);
  EXPECT_EQ(stateOf(3), 12U);
  EXPECT_EQ(stateOf(127), 508U);
  EXPECT_EQ(stateOf(128), 128U);
  EXPECT_EQ(stateOf(129), 132U);
}

TEST(MemoryPlan, OffloadsWhatOnlyUpdatesUse) {
  const GradientAccumulation four{.count = 4};
  const MemoryPlan on = planMemory(ofElements(1000), adam({}), {.accumulation = four});
  EXPECT_EQ(rowOf(on, "adam.m").streaming, 4000U);
  EXPECT_EQ(rowOf(on, "adam.m").in_processor, 0U);
  EXPECT_EQ(rowOf(on, "accumulators").in_processor, 4000U);
  EXPECT_EQ(on.streamed_per_update, 16000U);
  EXPECT_GT(on.streaming_s, 0);
  const MemoryPlan off = planMemory(ofElements(1000), adam({}),
                                    {.accumulation = four, .offload_weight_update_variables = Offload::kOff});
  EXPECT_EQ(off.streaming, 0U);
  const MemoryPlan without =
      planMemory(ofElements(1000), adam({}), {.accumulation = four, .remote_buffers = false});
  EXPECT_EQ(without.streaming, 0U);
  EXPECT_THAT(without.offload, ::testing::HasSubstr("remote buffers"));
  EXPECT_EQ(errorCodeOf([&] {
              planMemory(ofElements(1000), adam({}),
                         {.offload_weight_update_variables = Offload::kOn, .remote_buffers = false});
            }),
            ErrorCode::kInvalidArgument);
}

TEST(MemoryPlan, KeepsTheOptimizersStateOnTheHostIfTheVariablesAreThere) {
  for (const int micro_batches : {1, 4}) {
    const MemoryPlan plan = planMemory(ofElements(1000), adam({}),
                                       {.accumulation = {.count = micro_batches}, .variables_on_host = true});
    for (const char* const row : {"adam.m", "adam.v"}) {
      EXPECT_EQ(rowOf(plan, row).in_processor, 0U);
      EXPECT_EQ(rowOf(plan, row).streaming, 0U);
      EXPECT_EQ(rowOf(plan, row).host, 4000U);
    }
    EXPECT_EQ(rowOf(plan, "parameters").in_processor, 4000U);  // a copy
    EXPECT_EQ(plan.host, 12'000U);
    EXPECT_EQ(plan.streamed_per_update, 0U);
    EXPECT_THAT(plan.text(), ::testing::HasSubstr("once for an instance: 12.0 kB"));
  }
  EXPECT_EQ(errorCodeOf([] {
              planMemory(ofElements(1000), adam({}),
                         {.offload_weight_update_variables = Offload::kOn, .variables_on_host = true});
            }),
            ErrorCode::kInvalidArgument);
}

TEST(MemoryPlan, GrowsWithTheReplicas) {
  const auto bytes = [](int replicas) {
    return planMemory(ofElements(10), sgd(1), {.replicas = replicas}).in_processor;
  };
  EXPECT_LT(bytes(2), bytes(4));
  EXPECT_LT(bytes(4), bytes(16));
}

TEST(MemoryPlan, IsATableForPeople) {
  const MemoryPlan plan = planMemory(ofElements(1'000'000), momentum({}),
                                     {.accumulation = {.count = 4}, .replicas = 2, .replicas_per_state = 2});
  EXPECT_EQ(plan.text(),
            "memory of each IPU              In-Processor     Streaming\n"
            "  parameters                          4.0 MB           0 B\n"
            "  gradients of a micro-batch          4.0 MB           0 B\n"
            "  accumulators                        4.0 MB           0 B\n"
            "  momentum.velocity                      0 B        2.0 MB\n"
            "  activations                            0 B           0 B\n"
            "  exchange code                       8.2 kB           0 B\n"
            "  together                           12.0 MB        2.0 MB\n"
            "offload of what only updates use: on: gradients are accumulated over 4 micro-batches\n"
            "an update streams 4.0 MB, some 0.8 ms\n");
}

TEST(MemoryPlan, NamesTheTensorTheBytesAndTheKnobsWhereItDoesNotFit) {
  Parameters large;
  large.add("embedding", {50'000, 4096});
  large.add("bias", {4096});
  try {
    planMemory(large, adam({}), {.replicas = 4});
    FAIL() << "it fits";
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("embedding"), ::testing::HasSubstr("3.3 GB"),
                                 ::testing::HasSubstr("offload_weight_update_variables"),
                                 ::testing::HasSubstr("replicas_per_state")));
  }
  EXPECT_NO_THROW(planMemory(large, adam({}), {.replicas = 4, .ipus_per_replica = 16}));
}

TEST(MemoryPlan, RefusesWhatMakesNoSense) {
  EXPECT_EQ(errorCodeOf([] { planMemory(ofElements(1), sgd(1), {.replicas = 4, .replicas_per_state = 3}); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { planMemory(ofElements(1), sgd(1), {.replicas = 0}); }),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
