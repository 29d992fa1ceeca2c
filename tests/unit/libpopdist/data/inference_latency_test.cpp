// SPDX-License-Identifier: Apache-2.0
// The measured latency covers each sample's way through infeed, step and outfeed.
#include <thread>

#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

using testing::counting;
using testing::expectError;

TEST(InferenceLatency, AnswersEachSampleInOrder) {
  std::vector<int> seen;
  std::thread::id loop;
  const Latency latency = inferenceLatency(counting(3),
                                           [&](const Tensors& sample) {
                                             seen.push_back(sample.get<std::int32_t>("y")[0] / 3);
                                             loop = std::this_thread::get_id();
                                             return Tensors(Tensor::full("class", {}, seen.back()));
                                           },
                                           {.samples = 5, .warm_up = 2});
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_NE(loop, std::this_thread::get_id());
  EXPECT_EQ(latency.samples, 5);
  EXPECT_GT(latency.p50_us, 0);
  EXPECT_LE(latency.p50_us, latency.p99_us);
  EXPECT_LE(latency.p99_us, latency.max_us);
}

TEST(InferenceLatency, HasTheTimeOfTheStepInIt) {
  const auto spin = [](const Tensors&) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {
    }
    return Tensors(Tensor::full("class", {}, 0));
  };
  EXPECT_GE(inferenceLatency(counting(1), spin, {.samples = 10, .warm_up = 0}).p50_us, 2000);
}

TEST(InferenceLatency, ErrorsOfTheStepComeBack) {
  const auto fail = [](const Tensors& sample) -> Tensors {
    if (sample.get<std::int32_t>("y")[0] == 6) throw std::runtime_error("no such class");
    return Tensors(Tensor::full("class", {}, 0));
  };
  expectError([&] { inferenceLatency(counting(5), fail); }, ErrorCode::kUnknown, "no such class");
}

TEST(InferenceLatency, RefusesArgumentsOutOfRange) {
  const auto step = [](const Tensors&) { return Tensors(Tensor::full("class", {}, 0)); };
  expectError([&] { inferenceLatency(counting(1), step, {.samples = 0}); }, ErrorCode::kInvalidArgument,
              "samples is 0");
  expectError([&] { inferenceLatency(counting(1), step, {.warm_up = -1}); }, ErrorCode::kInvalidArgument,
              "warm_up is -1");
  expectError([&] { inferenceLatency(counting(1).skip(1), step); }, ErrorCode::kOutOfRange, "no element");
}

TEST(InferenceLatency, IsSaidAsJson) {
  EXPECT_EQ(jsonOf(Latency{.samples = 3, .p50_us = 1.5, .p99_us = 20, .max_us = 20.25}),
            R"({"latency":{"max_us":20.250,"p50_us":1.500,"p99_us":20.000,"samples":3}})");
}

}  // namespace
}  // namespace popdist::io
