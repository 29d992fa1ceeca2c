// SPDX-License-Identifier: Apache-2.0
#include "agent/service/become.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/service/unix_user.h"
#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "common/sys/fd.h"

namespace pop::agent {
namespace {

constexpr mode_t kUmask = 022;
constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";
constexpr const char* kRootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// A service may be protected from the OOM killer; its jobs must not be. Needs CAP_SYS_RESOURCE: without it
// the kernel remembers the low score, and any process may restore it.
void resetOomScore() {
  const sys::Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file.valid()) static_cast<void>(sys::writeAll(file.get(), "0").ok());
}

// Groups before the user, since afterwards they cannot be changed. Checks each step, and that there is no way
// back.
Status dropTo(const Login& login) {
  const UnixUser& user = login.user;
  if (::geteuid() != 0) {
    if (user.uid == ::getuid() && user.uid == ::geteuid()) return {};
    return failedPrecondition("only root can run jobs of " + inQuotes(user.name) +
                              ", and this process runs as user " + std::to_string(::geteuid()));
  }
  if (::setgroups(login.groups.size(), login.groups.data()) != 0)
    return errnoStatus("setting the groups of user " + user.name, errno);
  if (::setresgid(user.gid, user.gid, user.gid) != 0)
    return errnoStatus("switching to group " + std::to_string(user.gid), errno);
  if (::setresuid(user.uid, user.uid, user.uid) != 0) return errnoStatus("becoming " + user.name, errno);
  if (user.uid != 0 && (::setuid(0) == 0 || ::geteuid() != user.uid || ::getegid() != user.gid))
    return internalError("could not switch to user " + user.name);
  return {};
}

// After dropTo(), which clears the setting. A parent that has already died would never send the signal.
Status dieWithParent(pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return errnoStatus("setting the signal to get when the agent service ends", errno);
  if (::getppid() != parent) return failedPrecondition("the agent service is gone");
  return {};
}

// Without this, all jobs of a multi-user service would share the service's keyring, and could read each
// other's keys. A single-user service runs its jobs with that user's keys. Where the system has no keyrings,
// or a container forbids them to all its processes, there is nothing to share.
Status haveOwnKeyring(const UnixUser& user) {
  if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) return {};
  if (errno == ENOSYS || errno == EPERM) return {};
  return errnoStatus("making a session keyring for " + user.name + " (see the sysctl kernel.keys.maxkeys)",
                     errno);
}

void goHome(const UnixUser& user) {
  if (::chdir(user.home.c_str()) == 0) return;
  const std::string why =
      errnoStatus("entering " + user.home + ", the home of " + user.name, errno).message();
  std::fprintf(stderr, "%s; starting in /\n", why.c_str());
  if (::chdir("/") != 0) std::perror("/");
}

std::vector<std::string> loginEnvironment(const UnixUser& user) {
  std::vector<std::string> variables{"HOME=" + user.home, "USER=" + user.name, "LOGNAME=" + user.name,
                                     "SHELL=" + (user.shell.empty() ? std::string("/bin/sh") : user.shell),
                                     std::string("PATH=") + (user.uid == 0 ? kRootPath : kPath)};
  for (const char* name : {"LANG", "LC_ALL", "TZ"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + '=' + value);
  }
  return variables;
}

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

int fail(const std::string& message, int code = contract::kExitLauncherFailed) {
  std::fprintf(stderr, "popdist-agent become: %s\n", message.c_str());
  return code;
}

int execute(const UnixUser& user, const std::vector<std::string>& command) {
  const std::vector<std::string> environment = loginEnvironment(user);
  ::execve(command.front().c_str(), pointersTo(command).data(), pointersTo(environment).data());
  const int error = errno;
  return fail(errnoStatus("executing " + command.front() + " as " + user.name, error).message(),
              error == ENOENT ? contract::kExitNotFound : contract::kExitCannotExecute);
}

Status become(const Login& login, pid_t parent) {
  const UnixUser& user = login.user;
  const bool for_many_users = ::geteuid() == 0;
  POP_RETURN_IF_ERROR(checkNotRootByAnotherName(user));  // it may have been looked up anew
  ::setsid();                                            // fails where we lead one already
  resetOomScore();
  ::umask(kUmask);
  POP_RETURN_IF_ERROR(dropTo(login));
  POP_RETURN_IF_ERROR(dieWithParent(parent));
  if (for_many_users) POP_RETURN_IF_ERROR(haveOwnKeyring(user));
  if (::close_range(3, ~0U, 0) != 0) return errnoStatus("closing descriptors", errno);
  goHome(user);
  return {};
}

// A service that runs no jobs of others keeps the groups that it has.
Result<Login> loginFor(const std::vector<std::string>& words) {
  if (words.size() > 1) return loginOf(words);
  if (::geteuid() == 0) return lookUpLogin(words.front());
  POP_ASSIGN_OR_RETURN(UnixUser user, lookUpUser(words.front()));
  return Login{std::move(user), {}};
}

}  // namespace

int runBecome(const std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes - arguments.begin() < 2 || arguments.end() - dashes < 2)
    return fail("usage: become USER PARENT_PID [WHAT IS KNOWN OF THE USER] -- PROGRAM …");
  const Result<std::int64_t> parent = parseInteger(arguments[1]);
  if (!parent.ok()) return fail("PARENT_PID: " + parent.status().message());
  std::vector<std::string> words{arguments[0]};
  words.insert(words.end(), arguments.begin() + 2, dashes);
  const Result<Login> login = loginFor(words);
  if (!login.ok()) return fail(login.status().message());
  const Status done = become(login.value(), static_cast<pid_t>(parent.value()));
  if (!done.ok()) return fail(done.message());
  return execute(login.value().user, {dashes + 1, arguments.end()});
}

}  // namespace pop::agent
