// SPDX-License-Identifier: Apache-2.0
// How quickly poprun starts and ends whole jobs, beside the floors under it and its peers. JSON lines on
// stdout, tables on stderr. It reports: its exit code does not depend on the figures.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/harness/command.h"
#include "bench/harness/machine.h"
#include "bench/launch_hosts/contestants.h"
#include "bench/launch_hosts/measure.h"
#include "bench/launch_hosts/report.h"
#include "bench/launch_hosts/rig.h"
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

std::filesystem::path ownDirectory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

// True if it can be measured; else the reason is printed.
bool isUsable(const std::string& name, const std::string& why_not) {
  record(
      JsonLine("contestant").add("contestant", name).add("usable", why_not.empty()).add("why_not", why_not));
  if (!why_not.empty()) std::fprintf(stderr, "%s is left out: %s\n", name.c_str(), why_not.c_str());
  return why_not.empty();
}

template <typename AllFigures>
void report(const AllFigures& figures) {
  showProgress("");
  const std::vector<Goal> goals = judge(figures);
  for (const JsonLine& line : toJson(figures, goals)) record(line);
  std::fputs(inWords(figures, goals).c_str(), stderr);
}

void prepare() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a benchmark that is interrupted keeps what it has measured
  forgetOuterLauncher();
  const Machine machine = describeMachine();
  record(toJson(machine));
  std::fprintf(stderr, "%s\n", inWords(machine).c_str());
}

int failed(const std::string& why) {
  std::fprintf(stderr, "bench/launch: %s\n", why.c_str());
  return 1;
}

int benchmark(const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted.message());
  prepare();
  const ScratchDirectory scratch;
  const std::string own_directory = scratch.install(ownDirectory());
  const JobPrograms programs{findInPath("true"), own_directory + "/bench_launch_rank"};
  std::vector<Contestant> contestants = chooseContestants(options.only, own_directory);
  std::erase_if(contestants,
                [&](const Contestant& each) { return !isUsable(each.name, whyUnusable(each, programs)); });
  report(measureAll(contestants, programs, options, {record, showProgress}));
  return 0;
}

int benchmarkHosts(HostRig& rig, const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted.message());
  prepare();
  const ScratchDirectory scratch;
  std::vector<HostContestant> contestants = chooseHostContestants(options.only);
  std::erase_if(contestants, [&](const HostContestant& each) {
    return !isUsable(each.name, whyUnusable(each, rig, options));
  });
  report(measureHosts(rig, contestants, options, {record, showProgress}));
  return 0;
}

volatile sig_atomic_t benchmark_process = 0;

// The hosts are this process's children, and all that is measured those of another: what a contestant leaves
// behind is ended after each run, whatever it is.
int benchmarkBesideHosts(const LaunchOptions& options) {
  if (::geteuid() != 0) return failed("--hosts makes network namespaces, which only root may: use sudo");
  HostRig rig(*std::max_element(options.host_counts.begin(), options.host_counts.end()), ownDirectory());
  const std::vector<HostContestant> chosen = chooseHostContestants(options.only);
  if (std::any_of(chosen.begin(), chosen.end(), [](const HostContestant& each) { return each.by_daemons; }))
    rig.startDaemons();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return failed("fork failed");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int code = benchmarkHosts(rig, options);
    std::fflush(nullptr);
    std::_Exit(code);
  }
  benchmark_process = child;
  for (const int signal : {SIGINT, SIGTERM})
    ::signal(signal, [](int) { ::kill(benchmark_process, SIGTERM); });
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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
  return options.value().host_counts.empty() ? pop::bench::benchmark(options.value())
                                             : pop::bench::benchmarkBesideHosts(options.value());
}
