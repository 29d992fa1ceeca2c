// SPDX-License-Identifier: Apache-2.0
#include "common/sys/process_setup.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <initializer_list>

#include "common/sys/fd.h"

namespace pop::sys {
namespace {

// Of a loop, its signals and what it serves first. Whoever lacks one later can say what for.
constexpr std::size_t kFewestDescriptors = 8;

Status haveDescriptors() {
  std::array<Fd, kFewestDescriptors> spare;
  for (Fd& each : spare) {
    each = Fd(::eventfd(0, EFD_CLOEXEC));
    if (!each.valid())
      return errnoStatus("too few file descriptors (raise the limit with `ulimit -n`)", errno);
  }
  return {};
}

}  // namespace

Status setUpForJobs() {
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(resource, &limit);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return haveDescriptors();
}

}  // namespace pop::sys
