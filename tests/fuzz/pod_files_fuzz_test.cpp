// SPDX-License-Identifier: Apache-2.0
// Damaged model files and tables of runs: they are read, or refused with the file's name; a training that was
// read predicts numbers, and is written as it was read. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "common/base/random.h"
#include "pod/predict/fit.h"
#include "pod/predict/model_file.h"
#include "poprun/command/named_systems.h"

namespace pop::pod::predict {
namespace {

constexpr std::uint64_t kPodFileRounds = 20'000;

const std::string kPodModel =
    "chip = Mk2\nipus_per_replica = 8\nstages = 8\nmicro_batch = 2\ngradient_accumulation = 96\n"
    "gradients = 672 MB\nmicro_batch_time = 4.1 ms\nfixed_time = 160 ms\n";
const std::string kPodRuns =
    "system,replicas,stages,micro_batch,gradient_accumulation,step_ms\npod64,8,8,2,96,639.9\n"
    "pod128,16,8,2,96,689\npod64,8,8,2,48,400\n";

std::string damagedPodFile(std::string text, SplitMix64& random) {
  constexpr std::string_view kLetters = "0123456789.,=-+e# \n\tkMGBmsiunaf\"\\\0\xff";
  for (std::uint64_t times = 1 + random.below(4); times > 0 && !text.empty(); --times) {
    const std::size_t at = random.below(text.size());
    const char letter = kLetters[random.below(kLetters.size())];
    switch (random.below(3)) {
      case 0:
        text[at] = letter;
        break;
      case 1:
        text.insert(at, 1 + random.below(20), letter);
        break;
      default:
        text.erase(at, 1 + random.below(20));
    }
  }
  return text;
}

double linkTime(const SystemShape&, std::uint64_t bytes, int replicas, int) {
  return static_cast<double>(bytes) / 29e9 + replicas * 10e-6;
}

TEST(PodFilesFuzz, DamagedModelsAreRefusedOrPredictNumbers) {
  NamedSystems pods;
  const SystemShape pod64 = pods.shape("pod64").value();
  for (std::uint64_t round = 0; round < kPodFileRounds; ++round) {
    SplitMix64 random(round);
    const Result<Training> read = parseModel(damagedPodFile(kPodModel, random), "x.model");
    if (!read.ok()) {
      ASSERT_TRUE(read.status().message().starts_with("'x.model'")) << round;
      continue;
    }
    ASSERT_TRUE(parseModel(modelText(read.value()), "x.model").ok()) << round;
    const Result<Prediction> prediction = predict(read.value(), {.system = pod64}, linkTime);
    if (!prediction.ok()) continue;
    ASSERT_TRUE(std::isfinite(prediction.value().samples_per_s)) << round;
    ASSERT_GT(prediction.value().seconds.all(), 0) << round;
  }
}

TEST(PodFilesFuzz, DamagedTablesAreRefusedOrFitNumbers) {
  NamedSystems pods;
  Training training = parseModel(kPodModel, "x.model").value();
  training.micro_batch_s.reset();
  training.fixed_s.reset();
  for (std::uint64_t round = 0; round < kPodFileRounds; ++round) {
    SplitMix64 random(round);
    const auto runs = parseRuns(damagedPodFile(kPodRuns, random), "x.csv", training,
                                [&pods](std::string_view name) { return pods.shape(name); });
    if (!runs.ok()) {
      ASSERT_TRUE(runs.status().message().starts_with("'x.csv'")) << round;
      continue;
    }
    const Result<Fit> fitted = fit(training, runs.value(), linkTime);
    if (!fitted.ok()) {
      ASSERT_FALSE(fitted.status().message().empty()) << round;
      continue;
    }
    ASSERT_TRUE(std::isfinite(fitted.value().training.micro_batch_s.value())) << round;
    ASSERT_GE(fitted.value().training.fixed_s.value(), 0) << round;
  }
}

}  // namespace
}  // namespace pop::pod::predict
