// SPDX-License-Identifier: Apache-2.0
// Measures how fast examples/fashion_mnist trains, epoch by epoch, beside PyTorch's DistributedDataParallel.
// JSON lines on stdout, tables on stderr. It only reports: its exit code does not depend on the figures.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bench/harness/session.h"
#include "bench/harness/turn.h"
#include "bench/training_speed/contestants.h"
#include "bench/training_speed/epochs.h"

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

/// Other programs' share of the cores during the run: (busy time - the run's own) / time of all cores.
double othersShareOf(const Turn& turn) {
  const double ticks = turn.cpuMs() / 1e3 * static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto busy = static_cast<double>(turn.during.busy + turn.during.steal);
  const double all = busy + static_cast<double>(turn.during.idle);
  return all > 0 ? std::max(0.0, busy - ticks) / all : 0;
}

void trainOnce(const Trainer& trainer, int round, const Command& command, const TrainingOptions& options,
               Trainings& trainings) {
  Turn turn = takeTurn(command, options.quiet_timeout);
  std::vector<Epoch>& epochs = trainings.rounds.emplace_back();
  if (turn.failure.empty()) {
    Result<std::vector<Epoch>> parsed = parseEpochs(turn.run.value().output, options.epochs);
    if (parsed.ok()) epochs = std::move(parsed.value());
    turn.failure = parsed.status().message();
  }
  const double others_share = othersShareOf(turn);
  if (others_share > kQuietShare) ++trainings.disturbed;
  JsonLine line("run");
  line.add("contestant", trainer.name).add("round", round);
  record(turn.addTo(line).add("others_share", others_share));
  for (std::size_t epoch = 0; epoch < epochs.size(); ++epoch)
    record(JsonLine("epoch")
               .add("contestant", trainer.name)
               .add("round", round)
               .add("epoch", epoch + 1)
               .add("samples_per_s", epochs[epoch].samples_per_s)
               .add("test_accuracy_percent", epochs[epoch].accuracy));
}

int benchmark(const TrainingOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted);
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
  report(all, options.epochs);
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  return pop::bench::runMain(pop::bench::parseTrainingOptions(argc, argv), pop::bench::benchmark);
}
