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

// Descriptors for a loop, its signals and its first work. Code that lacks one later can name its purpose.
constexpr std::size_t kFewestDescriptors = 8;

struct FoundLimit {
  decltype(RLIMIT_NOFILE) resource;
  rlimit limit{};
  bool is_raised = false;
};
std::array<FoundLimit, 2> found_limits{{{RLIMIT_NOFILE}, {RLIMIT_FSIZE}}};

void raise(FoundLimit& found) {
  if (::getrlimit(found.resource, &found.limit) != 0) return;
  rlimit raised = found.limit;
  raised.rlim_cur = raised.rlim_max;
  found.is_raised = ::setrlimit(found.resource, &raised) == 0;
}

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
  for (FoundLimit& each : found_limits) raise(each);
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return haveDescriptors();
}

void takeBackLimits() {
  for (const FoundLimit& each : found_limits) {
    if (each.is_raised) ::setrlimit(each.resource, &each.limit);
  }
}

}  // namespace pop::sys
