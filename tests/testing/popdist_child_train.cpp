// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/popdist_child_train.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "popdist/trainer.hpp"

namespace popdist::testing {
namespace {

constexpr int kFails = 1;
constexpr int kCodeOfTheCause = 3;
constexpr int kCodeOfOthers = 5;

train::Parameters parameters() {
  train::Parameters parameters;
  parameters.add("w", {64}, train::constant(1));
  return parameters;
}

io::Infeed feed() {
  return io::Infeed(io::Dataset::fromSlices(Tensors(Tensor({"x", Type::kFloat, {4}}))).batch(1).repeat());
}

/// The worst that can happen: an instance that was told ends before the cause.
void awaitEnd(pid_t pid) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (std::chrono::steady_clock::now() < limit && (::kill(pid, 0) == 0 || errno != ESRCH)) ::sched_yield();
}

int trainAndFail(Context& context, const std::string& strategy, const std::string& by) {
  if (context.instanceIndex() == 0) context.put("pid", std::to_string(::getpid()));
  context.fence();
  const pid_t first = std::stoi(*context.get("pid"));
  try {
    const std::unique_ptr<train::Strategy> made = train::strategyNamed(strategy, context);
    train::Trainer trainer(
        *made, parameters(),
        [&](const train::MicroBatch& batch) {
          if (context.instanceIndex() == kFails && batch.update == 2)
            throw std::runtime_error("no more samples");
        },
        train::sgd(0.1));
    trainer.initialise(1);
    io::Infeed infeed = feed();
    trainer.run(infeed, 100);
  } catch (const std::exception& error) {
    std::printf("heard %d: %s\n", context.instanceIndex(), error.what());
    std::fflush(stdout);
    if (context.instanceIndex() != kFails && by == "abort") context.abort(kCodeOfOthers, error.what());
    if (context.instanceIndex() != kFails) return kCodeOfOthers;
    if (by != "abort") awaitEnd(first);
    return kCodeOfTheCause;
  }
  return 0;
}

}  // namespace

int train(Context& context, const std::vector<std::string>& given) {
  return trainAndFail(context, given.at(0), given.at(1));
}

}  // namespace popdist::testing
