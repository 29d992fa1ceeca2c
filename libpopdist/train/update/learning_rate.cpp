// SPDX-License-Identifier: Apache-2.0
#include "popdist/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/update/rate_range.h"

namespace popdist::train {
namespace {

void checkUpdates(std::uint64_t updates, const char* function) {
  if (updates == 0) throwIfError(pop::invalidArgument("updates is 0, expected 1 or more"), function);
}

void checkRate(double rate, const char* what, const char* function) {
  if (isRate(rate)) return;
  throwIfError(
      pop::invalidArgument(std::string(what) + " is " + pop::numberText(rate) + ", expected " + kRateRange),
      function);
}

double share(std::uint64_t done, std::uint64_t all) {
  return static_cast<double>(std::min(done, all)) / static_cast<double>(all);
}

}  // namespace

LearningRate::LearningRate(double rate) : at_([rate](std::uint64_t) { return rate; }) {
  checkRate(rate, "the rate", "LearningRate");
}

LearningRate::LearningRate(std::function<double(std::uint64_t)> at) : at_(std::move(at)) {
  if (!at_) throwIfError(pop::invalidArgument("there is no function"), "LearningRate");
}

LearningRate linearToZero(double first, std::uint64_t updates) {
  checkRate(first, "first", "linearToZero");
  checkUpdates(updates, "linearToZero");
  return LearningRate([first, updates](std::uint64_t done) {
    return first * share(updates - std::min(done, updates), updates);
  });
}

LearningRate cosine(double first, std::uint64_t updates, double last) {
  checkRate(first, "first", "cosine");
  checkRate(last, "last", "cosine");
  checkUpdates(updates, "cosine");
  return LearningRate([first, updates, last](std::uint64_t done) {
    return last + (first - last) * (1 + std::cos(std::numbers::pi * share(done, updates))) / 2;
  });
}

LearningRate warmup(std::uint64_t updates, LearningRate then) {
  checkUpdates(updates, "warmup");
  return LearningRate([updates, then = std::move(then)](std::uint64_t done) {
    return done < updates ? then.at(0) * share(done + 1, updates) : then.at(done - updates);
  });
}

LearningRate piecewise(double first, std::vector<std::pair<std::uint64_t, double>> later) {
  checkRate(first, "first", "piecewise");
  for (const auto& [from, rate] : later) checkRate(rate, "a rate of later", "piecewise");
  for (std::size_t i = 1; i < later.size(); ++i) {
    if (later[i].first <= later[i - 1].first)
      throwIfError(pop::invalidArgument("update " + std::to_string(later[i].first) + " follows update " +
                                        std::to_string(later[i - 1].first) + ": the numbers must grow"),
                   "piecewise");
  }
  return LearningRate([first, later = std::move(later)](std::uint64_t done) {
    double rate = first;
    for (const auto& [from, next] : later)
      if (done >= from) rate = next;
    return rate;
  });
}

}  // namespace popdist::train
