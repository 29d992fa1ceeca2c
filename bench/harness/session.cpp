// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/session.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "bench/harness/machine.h"

namespace pop::bench {

void record(const JsonLine& line) {
  std::puts(line.text().c_str());
}

void showProgress(const std::string& what) {
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

void beginSession() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (const char* name : {"RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    ::unsetenv(name);
  const Machine machine = describeMachine();
  record(toJson(machine));
  std::fprintf(stderr, "%s\n", inWords(machine).c_str());
}

bool isUsable(const std::string& contestant, const std::string& why_not) {
  record(JsonLine("contestant")
             .add("contestant", contestant)
             .add("usable", why_not.empty())
             .add("why_not", why_not));
  if (!why_not.empty()) std::fprintf(stderr, "%s is left out: %s\n", contestant.c_str(), why_not.c_str());
  return why_not.empty();
}

std::filesystem::path ownDirectory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

ScratchDirectory::ScratchDirectory() {
  std::string path = std::filesystem::temp_directory_path() / "bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return;
  path_ = path;
  ::setenv("TMPDIR", path.c_str(), 1);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string ScratchDirectory::install(const std::filesystem::path& built,
                                      const std::vector<std::string>& programs) const {
  if (path_.empty()) return built;
  for (const std::string& name : programs) std::filesystem::copy_file(built / name, path_ / name);
  return path_;
}

}  // namespace pop::bench
