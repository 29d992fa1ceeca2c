// SPDX-License-Identifier: Apache-2.0
// One command that is its own launcher, as with Python's multiprocessing: it forks the workers.
//
//   by_fork [WORKERS [BASE_PORT]]
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "fit.h"

namespace {

int work(int index, int workers, int base_port) try {
  popdist::train::setTfConfig(index, workers, base_port);
  const auto context = popdist::train::contextFor();
  popdist::train::IpuMultiWorkerStrategy strategy(*context);
  fit(strategy);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "by_fork: worker %d: %s\n", index, error.what());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 2;
  const int base_port = argc > 2 ? std::atoi(argv[2]) : 3737;
  if (argc > 3 || workers < 1 || workers > 64 || base_port < 1 || base_port > 65535 - workers)
    return std::fprintf(stderr, "usage: by_fork [WORKERS, 1 to 64] [BASE PORT]\n"), 2;
  // Before anything else of libpopdist is used: threads and connections are not for children.
  for (int i = 0; i < workers; ++i) {
    const pid_t child = fork();
    if (child == 0) return work(i, workers, base_port);
    if (child < 0) return std::perror("by_fork: fork"), 1;
  }
  bool all_ended_well = true;
  for (int status = 0; wait(&status) > 0;) all_ended_well = all_ended_well && status == 0;
  return all_ended_well ? 0 : 1;
}
