// SPDX-License-Identifier: Apache-2.0
// How quickly poprun starts and ends whole jobs, beside the floors under it and its peers. JSON lines on
// stdout, tables on stderr. It reports: its exit code does not depend on the figures.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/harness/command.h"
#include "bench/harness/machine.h"
#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/goals.h"
#include "bench/launch_speed/measure.h"
#include "bench/launch_speed/options.h"
#include "bench/launch_speed/report.h"

namespace pop::bench {
namespace {

void record(const JsonLine& line) {
  std::puts(line.text().c_str());
}

// On a terminal, one line that is written over.
void showProgress(const std::string& what) {
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

// What launchers leave in their children's environment; some of our contestants would believe it.
void forgetOuterLauncher() {
  for (const char* name : {"RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    ::unsetenv(name);
}

// Killed launchers leave their files in TMPDIR: give them one that goes with us.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string path = std::filesystem::temp_directory_path() / "bench-launch-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  /// Our own programs there, as an installation would have copied them: the page cache keeps a file in the
  /// pieces in which it was written, a linker's are small, and a start from those takes 0.2 ms longer. The
  /// peers are installed too.
  std::string install(const std::filesystem::path& built) const {
    if (path_.empty()) return built;
    for (const char* name : {"poprun", "popdist-topology", "bench_launch_floor", "bench_launch_rank"})
      std::filesystem::copy_file(built / name, path_ / name);
    return path_;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

 private:
  std::filesystem::path path_;
};

std::vector<Contestant> usableContestants(const LaunchOptions& options, const JobPrograms& programs,
                                          const std::string& own_directory) {
  std::vector<Contestant> usable;
  for (Contestant& contestant : chooseContestants(options.only, own_directory)) {
    const std::string why = whyUnusable(contestant, programs);
    record(JsonLine("contestant")
               .add("contestant", contestant.name)
               .add("program", contestant.program)
               .add("usable", why.empty())
               .add("why_not", why));
    if (why.empty())
      usable.push_back(std::move(contestant));
    else
      std::fprintf(stderr, "%s is left out: %s\n", contestant.name.c_str(), why.c_str());
  }
  return usable;
}

int benchmark(const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) {
    std::fprintf(stderr, "bench/launch: %s\n", adopted.message().c_str());
    return 1;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a benchmark that is interrupted keeps what it has measured
  forgetOuterLauncher();
  const ScratchDirectory scratch;
  const std::string own_directory =
      scratch.install(std::filesystem::read_symlink("/proc/self/exe").parent_path());
  const JobPrograms programs{findInPath("true"), own_directory + "/bench_launch_rank"};
  const Machine machine = describeMachine();
  record(toJson(machine));
  std::fprintf(stderr, "%s\n", inWords(machine).c_str());

  const std::vector<Contestant> contestants = usableContestants(options, programs, own_directory);
  const Figures figures = measureAll(contestants, programs, options, {record, showProgress});
  showProgress("");
  const std::vector<Goal> goals = judge(figures);
  for (const JsonLine& line : toJson(figures, goals)) record(line);
  std::fputs(inWords(figures, goals).c_str(), stderr);
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  const auto options = pop::bench::parseLaunchOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "bench/launch: %s\n", options.status().message().c_str());
    return 2;
  }
  if (options.value().help) {
    std::fputs(pop::bench::launchHelp().c_str(), stdout);
    return 0;
  }
  return pop::bench::benchmark(options.value());
}
