// SPDX-License-Identifier: Apache-2.0
// Measures what the runtime adds to training: a trainer with a step that does nothing, and whole weight
// updates (gradients to new parameters) with the optimizer's state on every replica, and shared by all.
//   bench_weight_update                              the trainer's own cost
//   poprun --num-instances 2 bench_weight_update     updates, too, beside the collectives that they consist
//   of
// --cpu-time: what this thread computed, not what passed: for a machine that is not quiet.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "bench/harness/statistics.h"
#include "bench/harness/table.h"
#include "popdist/popdist.hpp"
#include "popdist/trainer.hpp"

namespace {

using pop::bench::fixed;
using popdist::Context;
using popdist::Type;
namespace train = popdist::train;
namespace io = popdist::io;

constexpr int kRounds = 31;

bool cpu_time = false;

std::chrono::nanoseconds now() {
  timespec time{};
  ::clock_gettime(cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

double microsecondsOf(const std::function<void()>& call) {
  const auto begin = now();
  call();
  return std::chrono::duration<double, std::micro>(now() - begin).count();
}

/// 10,000 updates of a parameter with one element, so many in each call of the host.
void measureTrainer(Context& context) {
  train::Parameters parameters;
  parameters.add("w", {1});
  train::PopDistStrategy strategy(context);
  train::Trainer trainer(
      strategy, parameters, [](const train::MicroBatch&) {}, train::adam({}));
  trainer.initialise(42);
  io::Infeed infeed(
      io::Dataset::fromTensors(popdist::Tensors(popdist::Tensor::full("x", {1}, 1.0F))).repeat(),
      {.replicas = context.numLocalReplicas(),
       .data = io::DataOptions{.kind = io::DataKind::kSynthetic, .initialiser = {}}});
  constexpr int kUpdates = 10'000;
  for (const int updates : {1, 10, kUpdates}) {
    std::vector<double> rounds;
    for (int round = 0; round < 11; ++round) {
      const auto run = [&] {
        for (int done = 0; done < kUpdates; done += updates)
          trainer.run(infeed, static_cast<std::uint64_t>(updates));
      };
      rounds.push_back(microsecondsOf(run) / kUpdates);
    }
    if (context.instanceIndex() != 0) continue;
    const pop::bench::Summary summary = pop::bench::summarize(rounds);
    std::printf("trainer, an empty step, %d updates a call: %s us an update (best %s)\n", updates,
                fixed(summary.median, 2).c_str(), fixed(summary.min, 2).c_str());
  }
  if (context.instanceIndex() == 0) std::puts("");
}

struct Rig {
  Rig(Context& context, std::size_t elements, const train::Optimizer& optimizer)
      : strategy(context),
        spec{{"w", Type::kFloat, {elements}}},
        alone(context, spec, spec, optimizer),
        shared(context, spec, spec, optimizer, {.replicas_per_state = context.numTotalReplicas()}) {
    for (int local = 0; local < context.numLocalReplicas(); ++local) {
      values.emplace_back(context, spec);
      gradients.emplace_back(context, spec);
      const auto floats = gradients.back().refs().get<float>(0);
      for (std::size_t i = 0; i < elements; ++i) floats[i] = std::sin(static_cast<float>(i));
    }
    whole = strategy.reductionOfParts(gradients, alone.sharing());
    parts = strategy.reductionOfParts(gradients, shared.sharing());
  }

  train::PopDistStrategy strategy;
  popdist::Spec spec;
  train::WeightUpdate alone;
  train::WeightUpdate shared;
  std::vector<train::FlatTensors> values;
  std::vector<train::FlatTensors> gradients;
  std::unique_ptr<train::GradientReduction> whole;
  std::unique_ptr<train::GradientReduction> parts;
};

struct Tables {
  static pop::bench::Table make() {
    return pop::bench::Table({"update", "state on each, us", "shared, us", "its exchange, us",
                              "collectives alone, us", "shared / each", "shared / alone",
                              "exchange / alone"});
  }
  pop::bench::Table medians = make();
  pop::bench::Table best = make();  ///< for a machine that is not quiet
};

void measureUpdates(Context& context, const std::string& name, const train::Optimizer& optimizer,
                    std::size_t bytes, Tables& tables) {
  Rig rig(context, bytes / sizeof(float), optimizer);
  popdist::Communicator& world = context.world();
  const std::size_t part = bytes / sizeof(float) / static_cast<std::size_t>(world.size());
  auto* const gradients = rig.gradients.front().bytes().data();
  auto* const values = rig.values.front().bytes().data();
  auto* const own = gradients + static_cast<std::size_t>(world.rank()) * part * sizeof(float);
  std::vector<std::size_t> bytes_of_member;  // as the update gathers them
  for (const train::StateSharing::Part& of : rig.shared.sharing().parts)
    bytes_of_member.push_back(of.end - of.begin);
  std::vector<double> alone, shared, exchange, collectives;
  for (int round = 0; round < kRounds; ++round) {  // by turns
    world.barrier();
    alone.push_back(microsecondsOf([&] {
      rig.whole->wait();
      rig.alone.apply(rig.gradients.front(), rig.values, 1e-6);
    }));
    world.barrier();
    shared.push_back(microsecondsOf([&] {
      rig.parts->wait();
      rig.shared.apply(rig.gradients.front(), rig.values, 1e-6);
    }));
    world.barrier();
    exchange.push_back(microsecondsOf([&] {
      rig.parts->wait();
      world.allGather(nullptr, values, bytes_of_member, Type::kUint8);
    }));
    world.barrier();
    collectives.push_back(microsecondsOf([&] {
      world.reduceScatter(gradients, own, part, Type::kFloat);
      world.allGather(nullptr, values, part, Type::kFloat);
    }));
  }
  const std::string row = name + ", " + fixed(static_cast<double>(bytes) / (1 << 20), 2) + " MiB";
  const auto add = [&](pop::bench::Table& table, double pop::bench::Summary::*figure) {
    const auto of = [&](std::vector<double>& times) { return pop::bench::summarize(times).*figure; };
    const double a = of(alone);
    const double s = of(shared);
    const double e = of(exchange);
    const double c = of(collectives);
    table.addRow({row, fixed(a, 0), fixed(s, 0), fixed(e, 0), fixed(c, 0), fixed(s / a, 2), fixed(s / c, 2),
                  fixed(e / c, 2)});
  };
  add(tables.medians, &pop::bench::Summary::median);
  add(tables.best, &pop::bench::Summary::min);
}

}  // namespace

int main(int argc, char** argv) {
  cpu_time = argc > 1 && std::string(argv[1]) == "--cpu-time";
  Context& context = Context::fromEnvironment();
  measureTrainer(context);
  if (context.numInstances() == 1) return 0;
  Tables tables;
  for (const double mebibytes : {0.4, 1.0, 16.0, 64.0}) {
    const auto bytes = static_cast<std::size_t>(mebibytes * (1 << 20)) / 1024 * 1024;
    measureUpdates(context, "sgd", train::sgd(1e-3), bytes, tables);
    measureUpdates(context, "momentum", train::momentum({}), bytes, tables);
    measureUpdates(context, "adam", train::adam({}), bytes, tables);
  }
  if (context.instanceIndex() == 0)
    std::printf("medians\n%s\nbest of %d\n%s", tables.medians.text().c_str(), kRounds,
                tables.best.text().c_str());
  return 0;
}
