// SPDX-License-Identifier: Apache-2.0
// Measures how fast examples/fashion_mnist trains, epoch by epoch, beside PyTorch's DistributedDataParallel.
// JSON lines on stdout, tables on stderr. It only reports: its exit code does not depend on the figures.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "bench/harness/command.h"
#include "bench/harness/machine.h"
#include "bench/harness/quiet_gate.h"
#include "bench/harness/session.h"
#include "bench/training_speed/contestants.h"
#include "bench/training_speed/epochs.h"
#include "bench/training_speed/options.h"

namespace pop::bench {
namespace {

constexpr double kQuietShare = 0.05;

Command commandOf(const Trainer& trainer, const std::string& directory, const TrainingOptions& options) {
  Command command{.argv = {directory + "/poprun", "--num-instances", "2"}, .time_limit = options.time_limit};
  command.argv.insert(command.argv.end(), trainer.options.begin(), trainer.options.end());
  command.argv.insert(command.argv.end(), trainer.program.begin(), trainer.program.end());
  command.argv.push_back(std::to_string(options.epochs));
  return command;
}

Result<std::vector<Epoch>> epochsOf(const Result<RunResult>& result, int count) {
  if (!result.ok()) return result.status();
  if (!result.value().succeeded())
    return internalError(inWords(result.value()) + ": " + result.value().output.substr(0, 500));
  return parseEpochs(result.value().output, count);
}

/// Other programs' share of the cores during the run: (busy time - the run's own) / time of all cores.
double othersShareOf(const CpuTimes& during, const Result<RunResult>& result) {
  const double ticks = result.ok() ? result.value().cpu_s * static_cast<double>(::sysconf(_SC_CLK_TCK)) : 0;
  const auto all = static_cast<double>(during.busy + during.idle + during.steal);
  return all > 0 ? std::max(0.0, static_cast<double>(during.busy + during.steal) - ticks) / all : 0;
}

void trainOnce(const Trainer& trainer, int round, const Command& command, const TrainingOptions& options,
               Trainings& trainings) {
  const QuietGate::Passed passed = QuietGate(options.quiet_timeout).wait();
  const CpuTimes before = readCpuTimes();
  const Result<RunResult> result = run(command);
  const CpuTimes during = readCpuTimes().since(before);
  const Result<std::vector<Epoch>> epochs = epochsOf(result, options.epochs);
  const double others_share = othersShareOf(during, result);
  if (others_share > kQuietShare) ++trainings.disturbed;
  record(JsonLine("run")
             .add("contestant", trainer.name)
             .add("round", round)
             .add("quiet_before", passed.quiet)
             .add("others_share", others_share)
             .add("wall_s", result.ok() ? result.value().wall_s : 0)
             .add("cpu_s", result.ok() ? result.value().cpu_s : 0)
             .add("failure", epochs.ok() ? "" : epochs.status().message()));
  trainings.rounds.push_back(epochs.ok() ? epochs.value() : std::vector<Epoch>{});
  for (std::size_t epoch = 0; epoch < trainings.rounds.back().size(); ++epoch) {
    const Epoch& each = trainings.rounds.back()[epoch];
    record(JsonLine("epoch")
               .add("contestant", trainer.name)
               .add("round", round)
               .add("epoch", epoch + 1)
               .add("samples_per_s", each.samples_per_s)
               .add("test_accuracy_percent", each.accuracy));
  }
}

int failed(const std::string& why) {
  std::fprintf(stderr, "bench/training: %s\n", why.c_str());
  return 1;
}

int benchmark(const TrainingOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted.message());
  beginSession();
  const ScratchDirectory scratch;
  const std::string directory =
      scratch.install(ownDirectory(), {"poprun", "popdist-topology", "fashion_mnist"});
  std::vector<Trainer> trainers = chooseTrainers(options.only, directory);
  std::erase_if(trainers, [](const Trainer& each) { return !isUsable(each.name, each.why_unusable); });
  std::vector<Trainings> all;
  for (const Trainer& trainer : trainers) all.push_back({.contestant = trainer.name, .rounds = {}});
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < trainers.size(); ++i) {
      showProgress(trainers[i].name + ", round " + std::to_string(round + 1) + " of " +
                   std::to_string(options.rounds));
      trainOnce(trainers[i], round, commandOf(trainers[i], directory, options), options, all[i]);
    }
  }
  showProgress("");
  for (const JsonLine& line : toJson(all, options.epochs)) record(line);
  std::fputs(inWords(all, options.epochs).c_str(), stderr);
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  const auto options = pop::bench::parseTrainingOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "bench/training: %s\n", options.status().message().c_str());
    return 2;
  }
  if (options.value().help) {
    std::fputs(pop::bench::trainingHelp().c_str(), stdout);
    return 0;
  }
  return pop::bench::benchmark(options.value());
}
