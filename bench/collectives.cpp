// SPDX-License-Identifier: Apache-2.0
// How fast libpopdist's collectives are, beside the machine's limits and the peers. JSON lines on stdout,
// tables on stderr. It reports: its exit code does not depend on the figures.
#include <cstdio>
#include <string>
#include <vector>

#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/goals.h"
#include "bench/collectives_speed/measure.h"
#include "bench/collectives_speed/options.h"
#include "bench/collectives_speed/report.h"
#include "bench/harness/command.h"
#include "bench/harness/session.h"

namespace pop::bench::collectives {
namespace {

int benchmark(const Options& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) {
    std::fprintf(stderr, "bench/collectives: %s\n", adopted.message().c_str());
    return 1;
  }
  beginSession();
  const ScratchDirectory scratch;  // of launchers that are killed, and where Gloo's ranks meet
  const std::string own_directory = ownDirectory();
  std::vector<Contestant> contestants = chooseContestants(options.only, own_directory);
  std::erase_if(contestants, [](const Contestant& each) { return !isUsable(each.name, whyUnusable(each)); });
  const Figures figures = measureAll(contestants, own_directory + "/bench_collectives_limits", options);
  showProgress("");
  const std::vector<Goal> goals = judge(figures);
  for (const JsonLine& line : toJson(figures, goals)) record(line);
  std::fputs(inWords(figures, goals).c_str(), stderr);
  return 0;
}

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  const auto options = pop::bench::collectives::parseOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "bench/collectives: %s\n", options.status().message().c_str());
    return 2;
  }
  if (options.value().help) {
    std::fputs(pop::bench::collectives::help().c_str(), stdout);
    return 0;
  }
  return pop::bench::collectives::benchmark(options.value());
}
