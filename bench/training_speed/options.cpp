// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "bench/training_speed/contestants.h"

namespace pop::bench {

Result<TrainingOptions> parseTrainingOptions(int argc, const char* const* argv) {
  CLI::App app("Speed of a whole training beside PyTorch's DistributedDataParallel", "bench/training");
  TrainingOptions options;
  options.quiet_timeout = std::chrono::seconds(10);
  options.time_limit = std::chrono::minutes(5);
  app.add_option("--epochs", options.epochs, "epochs of each training")->check(CLI::Range(2, 1000));
  app.add_option("--rounds", options.rounds, "trainings of each contestant, in turns")
      ->check(CLI::Range(1, 1000));
  addRunOptions(app, trainerNames(), options);
  POP_RETURN_IF_ERROR(parse(app, argc, argv, options));
  return options;
}

}  // namespace pop::bench
