// SPDX-License-Identifier: Apache-2.0
// Measures how fast a launcher carries its instances' tagged output, and how many lines it tears.
//   output_rate [runs]          runs poprun (beside this program) and the installed peers, in turn; one JSON
//                               line for each: median over the runs
//   output_rate write LINES     an instance: LINES lines of 80 bytes on stdout
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/command.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"

namespace {

constexpr int kInstances = 4;
constexpr int kLines = 200'000;  // 16 MB each
constexpr std::size_t kLineBytes = 80;

std::string lineText(int instance, int number) {
  std::string line = std::to_string(instance) + ' ' + std::to_string(number) + ' ';
  line.resize(kLineBytes - 1, static_cast<char>('a' + number % 26));
  return line + '\n';
}

int indexFromEnvironment() {
  for (const char* name : {"POPDIST_INSTANCE_INDEX", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

// Through stdio, as most programs write.
int writeLines(int count) {
  const int instance = indexFromEnvironment();
  for (int number = 0; number < count; ++number) {
    const std::string line = lineText(instance, number);
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()) return 1;
  }
  return std::fflush(stdout);
}

struct Launcher {
  const char* name;
  std::vector<std::string> command;
  bool tagged;
};

struct Run {
  double seconds = 0;
  int torn = 0;
};

// Counts lines that are not a tag followed by the next line of that instance.
int tornLines(std::string_view text) {
  std::map<int, int> next;
  int torn = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    int instance = -1;
    int number = -1;
    const std::size_t at = line.size() < kLineBytes ? 0 : line.size() - kLineBytes;
    const std::string body(line.substr(at));
    if (std::sscanf(body.c_str(), "%d %d ", &instance, &number) != 2 ||
        body != lineText(instance, next[instance])) {
      ++torn;
    }
    next[instance] = number + 1;
  }
  return torn;
}

Run runOnce(const Launcher& launcher) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  std::string text(std::size_t{kInstances} * kLines * (kLineBytes + 32),
                   '\0');  // touched before the clock starts
  std::size_t got = 0;
  const auto begin = pop::bench::Clock::now();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(launcher.command[0].c_str(), pop::bench::pointersTo(launcher.command).data());
    ::_exit(127);
  }
  ::close(ends[1]);
  while (got < text.size()) {
    const ssize_t bytes =
        ::read(ends[0], text.data() + got, std::min<std::size_t>(text.size() - got, 1 << 20));
    if (bytes <= 0) break;
    got += static_cast<std::size_t>(bytes);
  }
  const double taken_s = pop::bench::secondsSince(begin);
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  const std::string_view all = std::string_view(text).substr(0, got);
  const int lines = static_cast<int>(std::count(all.begin(), all.end(), '\n'));
  return {taken_s, lines < kInstances * kLines ? kInstances * kLines - lines : tornLines(all)};
}

int compare(const std::string& self, int runs) {
  const std::string poprun = self.substr(0, self.rfind('/') + 1) + "poprun";
  const std::string n = std::to_string(kInstances);
  std::vector<Launcher> launchers{
      {"poprun", {poprun, "--num-instances", n, "--tag-output", "instance"}, true},
      {"poprun", {poprun, "--num-instances", n, "--tag-output", "no"}, false},
      {"mpiexec.hydra -prepend-rank", {"mpiexec.hydra", "-n", n, "-prepend-rank"}, true},
      {"mpirun --tag-output",
       {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", n, "--tag-output"},
       true}};
  for (Launcher& launcher : launchers) {
    launcher.command.insert(launcher.command.end(), {self, "write", std::to_string(kLines)});
    std::vector<double> seconds;
    int torn = 0;
    for (int run = 0; run < runs; ++run) {
      const Run result = runOnce(launcher);
      seconds.push_back(result.seconds);
      torn = std::max(torn, result.torn);
    }
    // The instances' output without tags, divided by the time from the launcher's start to the end of its
    // output.
    const double median = pop::bench::summarize(seconds).median;
    pop::bench::JsonLine line("output_rate");
    line.add("launcher", launcher.name).add("tagged", launcher.tagged).add("instances", kInstances);
    line.add("mb_per_s", kInstances * kLines * static_cast<double>(kLineBytes) / 1e6 / median);
    pop::bench::record(line.add("seconds", median).add("torn_or_lost_lines", torn));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "write") return writeLines(std::atoi(argv[2]));
  char self[4096];
  const ssize_t bytes = ::readlink("/proc/self/exe", self, sizeof(self));
  return compare({self, static_cast<std::size_t>(bytes)}, argc > 1 ? std::max(1, std::atoi(argv[1])) : 5);
}
