// SPDX-License-Identifier: Apache-2.0
// Parses a training's output, and computes its figures.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/results.h"
#include "bench/harness/statistics.h"
#include "common/base/status.h"

namespace pop::bench {

struct Epoch {
  double samples_per_s = 0;  // samples of all weight updates / time from the first to the end of the last
  double accuracy = 0;       // percent of the test images, after the epoch
};

/// Parses lines "… epoch 3/10: …, test accuracy 87.03 %, 103727 samples/s…", which may stand between other
/// lines. kDataLoss: the epochs are not exactly 1 to `count`.
Result<std::vector<Epoch>> parseEpochs(const std::string& output, int count);

/// The trainings of one contestant.
struct Trainings {
  std::string contestant;
  std::vector<std::vector<Epoch>> rounds;  // empty where a training failed
  int disturbed = 0;                       // rounds in which other programs took a part of the cores

  bool mostlyDisturbed() const { return disturbed * 2 > static_cast<int>(rounds.size()); }
};

/// Samples per second of epoch `epoch` (from 0), over the rounds in which it was trained.
Summary speedOf(const Trainings& trainings, int epoch);

/// The ratio ours / theirs of one epoch in the same round, over the rounds in which both were trained. A
/// disturbance that lasts longer than a round slows both.
Summary ratioOf(const Trainings& ours, const Trainings& theirs, int epoch);

/// The last epoch's samples per second divided by the first one's of the same training, over the rounds.
Summary lastToFirst(const Trainings& trainings);

/// The contestant that `contestant` is compared with; empty for one that others are compared with.
std::string oursFor(const std::string& contestant);

/// The goals of the example beside its peer, for each network: in each epoch so many times its speed, and the
/// last epoch at 95 % of the first one's. Values are medians. Only what was measured.
std::vector<Goal> judge(const std::vector<Trainings>& all, int epochs);

/// Tables of the trainings.
std::string inWords(const std::vector<Trainings>& all, int epochs);

/// Records everything, and shows it to people.
void report(const std::vector<Trainings>& all, int epochs);

}  // namespace pop::bench
