// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

namespace popdist::algorithms {
namespace {

using Clock = std::chrono::steady_clock;

// Several calls are measured at a time, so that clock resolution and the ranks' different arrival times do
// not matter.
constexpr double kMinMicroseconds = 200;
constexpr std::uint64_t kMaxAtOnce = 200;
// Calls until a communicator has finished its trials and all of its memory has been touched.
std::uint64_t warmUpsFor(std::size_t bytes) {
  constexpr std::uint64_t kMin = 12;
  constexpr std::uint64_t kMax = 512;
  constexpr std::size_t kTouchedBytes = 4 << 20;
  constexpr std::size_t kSmallBytes = 1024;  // many to a page
  return bytes < kSmallBytes ? kMin : std::clamp(kTouchedBytes / bytes, kMin, kMax);
}

struct Contestant {
  Communicator* communicator = nullptr;
  std::string algorithm;
  std::uint64_t calls_at_once = 1;
};

// The roots take turns: a fixed root would run ahead of the others and its calls would look cheaper than they
// are.
double microsecondsOf(const Trial& trial, Communicator& communicator, std::uint64_t calls) {
  communicator.barrier();
  const auto begin = Clock::now();
  for (std::uint64_t call = 0; call < calls; ++call)
    trial.call(communicator, static_cast<int>(call % static_cast<std::uint64_t>(communicator.size())));
  const std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
  return taken.count() / static_cast<double>(calls);
}

// Keeps the communicators whose algorithm no earlier one has. Rank 0's result is used by all.
std::vector<Contestant> differentOnes(Context& context, const Contestants& contestants, const Trial& trial) {
  const std::uint64_t warm_ups = warmUpsFor(trial.bytes());
  std::vector<Contestant> different;
  for (const auto& communicator : contestants.all()) {
    const double once = microsecondsOf(trial, *communicator, warm_ups);
    Contestant each{communicator.get(), contestants.taken(*communicator)};
    std::uint64_t calls = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(kMinMicroseconds / std::max(once, 0.001)), 1, kMaxAtOnce);
    if (std::any_of(different.begin(), different.end(),
                    [&](const Contestant& known) { return known.algorithm == each.algorithm; }))
      calls = 0;
    context.world().broadcast(std::span(&calls, 1), 0);
    each.calls_at_once = calls;
    if (calls > 0) different.push_back(each);
  }
  return different;
}

double medianOf(std::span<double> sample) {
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  return *middle;
}

}  // namespace

Row measure(Context& context, const Contestants& contestants, const Task& task, int repeats) {
  const Trial trial(context, task);
  const std::vector<Contestant> different = differentOnes(context, contestants, trial);
  const auto turns = static_cast<std::size_t>(repeats);
  std::vector<double> samples(different.size() * turns);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < different.size(); ++i)
      samples[i * turns + turn] =
          microsecondsOf(trial, *different[i].communicator, different[i].calls_at_once);
  }
  context.world().allReduce(std::span(samples), Operator::kMax);
  Row row{.task = task, .timings = {}};
  row.task.bytes = trial.bytes();
  for (std::size_t i = 0; i < different.size(); ++i)
    row.timings.push_back({different[i].algorithm, medianOf(std::span(samples).subspan(i * turns, turns))});
  return row;
}

}  // namespace popdist::algorithms
