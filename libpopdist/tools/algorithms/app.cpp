// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/app.h"

#include <cstdio>
#include <vector>

#include "libpopdist/tools/algorithms/contestants.h"
#include "libpopdist/tools/algorithms/measure.h"
#include "libpopdist/tools/algorithms/options.h"
#include "libpopdist/tools/algorithms/report.h"
#include "popdist/error.hpp"
#include "popdist/popdist.hpp"

namespace popdist::algorithms {
namespace {

std::vector<Task> tasksOf(const Options& options, bool shares_memory) {
  std::vector<Task> tasks;
  for (const plan::Operation operation : options.operations) {
    if (operation == plan::Operation::kBarrier) {
      tasks.push_back({operation, 0, Memory::kNone});
      continue;
    }
    for (const std::size_t bytes : options.bytes) {
      tasks.push_back({operation, bytes, Memory::kPrivate});
      if (shares_memory) tasks.push_back({operation, bytes, Memory::kBuffer});
    }
  }
  return tasks;
}

void show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void measureAll(const Options& options) {
  Context& context = Context::fromEnvironment();
  const Contestants contestants(context);
  const bool speaks = context.instanceIndex() == 0;
  if (speaks) show(heading(context, contestants, options.repeats));
  int rows = 0;
  int slow = 0;
  for (const Task& task : tasksOf(options, contestants.shareMemory())) {
    const Row row = measure(context, contestants, task, options.repeats);
    ++rows;
    slow += choiceIsSlow(row) ? 1 : 0;
    if (speaks) show(inWords(row));
  }
  if (speaks) show(verdict(rows, slow));
}

}  // namespace

int runApp(int argc, char** argv) try {
  const Parsed parsed = parseOptions(argc, argv);
  if (parsed.exit_code) {
    // All instances get the error; the first that exits with it ends the job.
    if (*parsed.exit_code == 0 && getInstanceIndex() == 0) show(parsed.text);
    if (*parsed.exit_code != 0) std::fputs(parsed.text.c_str(), stderr);
    return *parsed.exit_code;
  }
  measureAll(parsed.options);
  return 0;
} catch (const popdist_error& error) {
  std::fprintf(stderr, "%s: %s\n", kProgram, error.what());
  return 1;
}

}  // namespace popdist::algorithms
