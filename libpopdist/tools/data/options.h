// SPDX-License-Identifier: Apache-2.0
// The command line of popdist-data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "popdist/io.hpp"

namespace popdist::data {

inline constexpr const char* kProgram = "popdist-data";

enum class Verb : std::uint8_t { kBenchmark, kRecords, kCompare };

struct Options {
  Verb verb = Verb::kBenchmark;

  // benchmark and records
  std::vector<io::IdxFile> idx;
  std::vector<io::NpyFile> npy;
  std::string records;  ///< for benchmark: a file to read; else empty
  std::optional<std::uint64_t> shuffle_seed;
  std::size_t batch = 0;  ///< 0: single elements
  io::BenchmarkOptions benchmark{.number_of_epochs = 10, .elements_per_epoch = 512};
  bool by_infeed = false;
  bool of_latency = false;  ///< measures single elements, not how many there are in a second
  int threads = 1;
  int prefetch = 3;
  std::string output;  ///< for records

  // compare
  std::vector<int> replicas;         ///< empty: the command as it is
  std::vector<std::string> command;  ///< the program and its arguments
};

struct Parsed {
  Options options;
  std::optional<int> exit_code;  ///< nothing to do: `text` is help (0) or an error
  std::string text;
};

Parsed parseOptions(int argc, const char* const* argv);

}  // namespace popdist::data
