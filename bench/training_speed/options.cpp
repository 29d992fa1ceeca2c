// SPDX-License-Identifier: Apache-2.0
#include "bench/training_speed/options.h"

#include <CLI/CLI.hpp>
#include <set>

#include "bench/training_speed/contestants.h"

namespace pop::bench {
namespace {

constexpr const char* kAbout = "Speed of a whole training beside PyTorch's DistributedDataParallel";

struct Bound {
  TrainingOptions options;
  int quiet_timeout_ms = 10'000;
  int time_limit_ms = 300'000;
};

void bind(CLI::App& app, Bound& bound) {
  app.set_help_flag("--help", "print this and exit");
  app.add_option("--epochs", bound.options.epochs, "epochs of each training")->check(CLI::Range(2, 1000));
  app.add_option("--rounds", bound.options.rounds, "trainings of each contestant, in turns")
      ->check(CLI::Range(1, 1000));
  app.add_option("--only", bound.options.only, "contestants, as in example,ddp")
      ->delimiter(',')
      ->check(CLI::IsMember(trainerNames()));
  app.add_option("--quiet-timeout-ms", bound.quiet_timeout_ms,
                 "how long a run waits for a quiet machine; 0: not at all")
      ->check(CLI::Range(0, 600'000));
  app.add_option("--time-limit-ms", bound.time_limit_ms, "a training that takes longer hangs")
      ->check(CLI::Range(1000, 3'600'000));
}

}  // namespace

Result<TrainingOptions> parseTrainingOptions(int argc, const char* const* argv) {
  CLI::App app(kAbout, "bench/training");
  Bound bound;
  bind(app, bound);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    bound.options.help = true;
    return bound.options;
  } catch (const CLI::ParseError& error) {
    return invalidArgument(std::string(error.what()) + " (bench/training --help lists the options)");
  }
  bound.options.quiet_timeout = std::chrono::milliseconds(bound.quiet_timeout_ms);
  bound.options.time_limit = std::chrono::milliseconds(bound.time_limit_ms);
  return bound.options;
}

std::string trainingHelp() {
  CLI::App app(kAbout, "bench/training");
  Bound bound;
  bind(app, bound);
  return app.help();
}

}  // namespace pop::bench
