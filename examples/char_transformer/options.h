// SPDX-License-Identifier: Apache-2.0
// The example's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <popdist/popdist.hpp>
#include <string>

#include "isa.h"
#include "model.h"
#include "writer.h"

struct TransformerOptions {
  std::string text = "/usr/share/common-licenses/GPL-3";  ///< on every Debian
  TransformerShape model;                                 ///< its characters are the text's
  popdist::train::ScheduleKind schedule = popdist::train::ScheduleKind::kGrouped;
  bool recompute = false;
  popdist::train::RecomputeMode recompute_mode = popdist::train::RecomputeMode::kAuto;
  std::size_t micro_batch = 4;   ///< texts that a replica processes at once
  std::size_t accumulation = 8;  ///< micro-batches per weight update
  std::uint64_t updates = 600;
  std::uint64_t report = 50;  ///< updates from one report, and checkpoint, to the next
  double rate = 3e-3;         ///< the highest
  std::uint64_t warmup = 20;  ///< updates
  double clip = 1;            ///< most norm of all gradients
  double weight_decay = 0.01;
  std::string checkpoints;         ///< directory; empty: none are written
  std::string output_model;        ///< file for the trained parameters; empty: none
  std::string svg;                 ///< file for a drawing of the schedule; empty: none
  std::string beginning = "The ";  ///< of the sample
  WriterOptions writer;
  std::uint64_t seed = 42;
  std::optional<Isa> isa;  ///< none: the best that all instances have
};

/// Exits with a message and code 2 on a mistake, with the help text and code 0 on --help.
TransformerOptions parseOptions(int argc, char** argv);
