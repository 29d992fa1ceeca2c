// SPDX-License-Identifier: Apache-2.0
// The command lines of benchmarks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace CLI {
class App;
}

namespace pop::bench {

/// Options that benchmarks of programs share.
struct RunOptions {
  std::vector<std::string> only;  // contestants; empty: all
  std::chrono::milliseconds quiet_timeout{1000};
  std::chrono::milliseconds time_limit{10'000};  // of one run
  bool quick = false;
  std::string help;  // not empty: print it, and do nothing else
};

/// Adds --only of these contestants, --quiet-timeout-ms and --time-limit-ms.
void addRunOptions(CLI::App& app, const std::vector<std::string>& contestants, RunOptions& options);
/// Adds --quick, with which a run does not wait for a quiet machine unless --quiet-timeout-ms says so.
void addQuick(CLI::App& app, RunOptions& options);

/// Reads the command line into what was added, or sets `help`. kInvalidArgument says what is wrong with it.
Status parse(CLI::App& app, int argc, const char* const* argv, RunOptions& options);

/// Shows why a benchmark cannot go on; returns its exit code.
int failed(const Status& why);

/// A benchmark's main(): measures, unless the command line is mistaken (exit code 2) or asks for help.
template <typename Options>
int runMain(const Result<Options>& options, int (*benchmark)(const Options&)) {
  if (!options.ok()) return failed(options.status()), 2;
  if (options.value().help.empty()) return benchmark(options.value());
  std::fputs(options.value().help.c_str(), stdout);
  return 0;
}

/// True if `list` has the value, or is empty: then all are chosen.
template <typename T>
bool chooses(const std::vector<T>& list, const T& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

template <typename Contestant>
std::vector<std::string> namesOf(const std::vector<Contestant>& all) {
  std::vector<std::string> names;
  for (const Contestant& each : all) names.push_back(each.name);
  return names;
}

}  // namespace pop::bench
