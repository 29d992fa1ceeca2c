// SPDX-License-Identifier: Apache-2.0
// The example's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isa.h"
#include "network.h"

struct TrainingOptions {
  std::string data = "/usr/share/datasets/fashion-mnist";  ///< Debian's dataset-fashion-mnist
  NetworkShape model = *networkNamed("mlp");
  std::string output_model;  ///< file for the trained parameters; empty: none
  int epochs = 3;
  int micro_batch = 16;                ///< samples that a replica processes at once
  int accumulation = 2;                ///< micro batches per weight update
  std::optional<float> learning_rate;  ///< none: the model's
  float momentum = 0.9F;
  bool adam = false;                 ///< in place of momentum
  std::string strategy = "popdist";  ///< a name of train::strategyNamed
  std::string checkpoints;           ///< directory; empty: none are written
  bool evaluate = false;             ///< all checkpoints, and train nothing
  std::uint64_t seed = 42;
  std::optional<Isa> isa;  ///< none: the best that all instances have
};

/// Exits with a message and code 2 on a mistake, with the help text and code 0 on --help.
TrainingOptions parseOptions(int argc, char** argv);
