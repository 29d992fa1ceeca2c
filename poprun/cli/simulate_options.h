// SPDX-License-Identifier: Apache-2.0
// The command line of `poprun simulate`: its table, from which its help, its part of the reference and man
// pages and its completion are made as well.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pod/system/what_if.h"
#include "poprun/cli/option_table.h"

namespace pop::cli {

enum class SimulateForm : std::uint8_t { kText, kJson, kSvg };

struct SimulateOptions {
  bool help = false;
  std::string model;
  std::string fit;  ///< empty: the model has its times
  std::vector<std::string> hold_out;
  std::string export_model;
  std::vector<std::string> systems;  ///< empty: those of the model's chip
  std::string collective_size;  ///< bytes of its vector with their unit; empty: no collective is simulated
  std::string collective;       ///< "all-reduce", …
  int group_size = 0;           ///< replicas of a group of it, or IPUs of a replica; 0: all
  int group_stride = 1;
  bool within_replica = false;  ///< the IPUs of each replica make it
  std::string replay;           ///< prefix of Chakra traces; empty: none are replayed
  std::string export_chakra;    ///< prefix of those that are written; empty: none
  std::string algorithm;        ///< of the collective; empty: all
  bool show_steps = false;
  bool show_system = false;  ///< nothing is simulated
  std::string trace;         ///< file for the collective's timeline; empty: none
  pod::WhatIf what_if;       ///< of each system, beside it
  std::optional<std::int64_t> ipus_per_replica;
  std::optional<std::int64_t> replicas;
  std::optional<std::int64_t> micro_batch;
  std::optional<std::int64_t> gradient_accumulation;
  std::optional<std::int64_t> global_batch;
  SimulateForm form = SimulateForm::kText;
};

struct ParsedSimulation {
  SimulateOptions options;
  std::vector<std::string> mistakes;  ///< all mistakes, each naming its option
};

/// `arguments` are those after the word simulate.
ParsedSimulation parseSimulateOptions(const std::vector<std::string>& arguments);

/// Its options; their codecs are null.
std::span<const OptionRow> simulateTable();

}  // namespace pop::cli
