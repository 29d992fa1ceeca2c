// SPDX-License-Identifier: Apache-2.0
// popdist-pmix: serves the instances of one host that speak PMIx, as those of Open MPI do. The agent starts
// it when the first one connects, so that other jobs do not load libpmix.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "agent/mpi/pmix_program/session.h"
#include "common/contract/env_frameworks.h"
#include "common/log/log.h"
#include "common/sys/process_setup.h"

namespace {

constexpr int kControl = STDIN_FILENO;
constexpr int kListener = pop::contract::kPassedDescriptor;

// libpmix writes to stderr whatever it finds strange, as a client that was killed.
void keepStderrForUs() {
  static const pop::sys::Fd ours(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  pop::log::setSink([](std::string_view line) { static_cast<void>(pop::sys::writeAll(ours.get(), line)); });
  const pop::sys::Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), standard);
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc != 1 || ::fcntl(kListener, F_GETFD) < 0) {
    std::fprintf(stderr, "popdist-pmix: popdist-agent starts it\n");
    return 2;
  }
  pop::sys::Fd control(kControl);
  pop::sys::Fd listener(kListener);
  keepStderrForUs();
  if (const pop::Status ready = pop::sys::setUpForJobs(); !ready.ok()) {
    pop::log::warning("popdist-pmix: " + ready.message());
    return 1;
  }
  pop::os::EpollLoop loop;
  pop::pmix::Session session(loop, std::move(control), std::move(listener));
  // Without destructors: libpmix's threads are still there.
  ::_exit(session.run());
}
