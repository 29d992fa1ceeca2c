// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/same_rates.h"

#include <algorithm>
#include <string>

#include "common/base/text.h"
#include "common/contract/fence_slots.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::train {
namespace {

constexpr std::uint64_t kDigests = std::uint64_t{1} << 20;  // sums of their squares are exact

}  // namespace

SameRates::SameRates(const Optimizer& optimizer) {
  for (const Transform& each : optimizer.transforms)
    if (each.prepare) prepares_.push_back(each.prepare);
}

std::string SameRates::text(std::uint64_t update) const {
  std::string text;
  for (const auto& prepare : prepares_)
    for (const double each : prepare(update)) text += (text.empty() ? "" : ", ") + pop::numberText(each);
  return text;
}

Fact SameRates::fact(std::uint64_t updates_done) const {
  return {.name = "the optimizer's rate, or numbers,",
          .text = text(updates_done),
          .advice = "give all the same LearningRate, and set numbers such as OptimizerValue on all"};
}

double SameRates::digest(std::uint64_t updates_done) const {
  const std::uint64_t last =
      std::max<std::uint64_t>(updates_done, 1) - 1;  // the rates of later ones may not be asked for yet
  return static_cast<double>(pop::contract::tagDigest(text(last)) % kDigests);
}

void SameRates::addTo(std::vector<double>& numbers, std::uint64_t updates_done) const {
  const double own = digest(updates_done);
  numbers.push_back(own);
  numbers.push_back(own * own);
}

// All are the same if one is their mean, and its square that of the squares: their variance is 0.
void SameRates::takeFrom(std::vector<double>& sums, int instances, std::uint64_t updates_done) const {
  const double own = digest(updates_done);
  const bool is_same = sums.back() == instances * own * own && sums[sums.size() - 2] == instances * own;
  sums.resize(sums.size() - 2);
  if (is_same) return;
  throwIfError(
      pop::failedPrecondition("after update " + std::to_string(updates_done) +
                              " the optimizer's rates are not the same on all instances: give all "
                              "the same LearningRate, and set numbers such as OptimizerValue on all"),
      "Trainer.run");
}

}  // namespace popdist::train
