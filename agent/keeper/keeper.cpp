// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/keeper.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "agent/keeper/descendants.h"
#include "agent/keeper/keeper_process.h"
#include "common/model/end_times.h"
#include "common/sys/blocked_signals.h"
#include "common/sys/process_end.h"
#include "common/sys/unix_socket.h"

namespace pop::keeper {
namespace {

using std::chrono::milliseconds;

// The keeper gives up after kTimeout, and then still has directories to remove.
constexpr milliseconds kKeeperTimeout = kTimeout + milliseconds(1000);
constexpr milliseconds kAfterSigkill{500};
static_assert(kKeeperTimeout + 2 * kAfterSigkill == kMaxEndTime);

// The keeper must not hold the launcher's standard streams open: their readers wait for end of file.
// Descriptors 0-2 stay in use, so that no other file gets one of these numbers.
void detachStdio() {
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3; ++fd) ::dup2(null.get(), fd);
}

Status resisting() {
  return {Code::kDeadlineExceeded,
          "some process of the job resists SIGKILL (is it waiting for a device or a file server?)"};
}

}  // namespace

Result<Keeper> forkKeeper(int life_line) {
  POP_ASSIGN_OR_RETURN(auto ends, sys::socketPair());
  std::set<pid_t> older_siblings = ownChildren();
  const pid_t agent = ::getpid();
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return errnoStatus("becoming a child subreaper", errno);
  // A signal to the launcher's process group just after the fork would end the keeper, which is still in that
  // group. The keeper keeps these signals blocked.
  const sys::BlockedSignals blocked;
  const pid_t pid = ::fork();
  if (pid < 0) {
    const Status failed = errnoStatus("starting the keeper process", errno);
    return Status(failed.code(), failed.message() + " (see `ulimit -u`)");
  }
  if (pid == 0) {
    ends.first.reset();
    ::setpgid(0, 0);  // signals to the launcher's process group spare the keeper
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);  // stopped, it would not notice the launcher's end
    ::prctl(PR_SET_NAME, "pop-keeper");  // `killall poprun` spares it as well
    sys::Fd life(life_line < 0 ? -1 : ::fcntl(life_line, F_DUPFD_CLOEXEC, 3));
    detachStdio();
    KeeperProcess(std::move(ends.second), {std::move(life), agent}).run();
  }
  return Keeper{pid, std::move(ends.first), std::move(older_siblings)};
}

Status endKeeper(Keeper keeper) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + kKeeperTimeout;
  keeper.link.reset();
  ::kill(keeper.pid, SIGCONT);  // stopped, it would not notice
  if (!sys::endsWithin(keeper.pid, kKeeperTimeout)) {
    ::kill(keeper.pid, SIGKILL);
    if (!sys::endsWithin(keeper.pid, kAfterSigkill)) return resisting();
  }
  int wait_status = -1;
  while (::waitpid(keeper.pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  // If the keeper could not end the processes in its time, this process cannot either.
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status) == 0 ? Status() : resisting();
  // A killed keeper leaves its children to this process.
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  const bool ended = endAllDescendants(std::clamp(left, kAfterSigkill, kTimeout), keeper.older_siblings);
  return ended ? Status() : resisting();
}

}  // namespace pop::keeper
