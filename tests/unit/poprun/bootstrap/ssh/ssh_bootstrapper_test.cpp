// SPDX-License-Identifier: Apache-2.0
// Hosts are reached with as many threads as the system gives.
#include "poprun/bootstrap/ssh/ssh_bootstrapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kNumHosts = 3;
// Below the ports that the system hands out to others.
const std::string kClosedAddress = "127.0.0.1:1";

// A user of Debian's whom ssh knows, and who runs nothing: games, man, lp, mail, news, uucp. Tests that run
// beside this one take others.
uid_t nobodyElses() {
  constexpr uid_t kFirst = 5;
  constexpr uid_t kCount = 6;
  return kFirst + static_cast<uid_t>(::getpid()) % kCount;
}

// In a forked child, which must not go on with the tests.
std::string failuresAtClosedPort() noexcept {
  std::string failures;
  int num_failed = 0;
  os::EpollLoop loop;
  SshBootstrapper bootstrapper(loop, std::vector<std::string>(kNumHosts, kClosedAddress),
                               {.config_file = "/dev/null"}, {});
  bootstrapper.start({.reached = [&loop](int, const ReachedHost&) { loop.stop(); },
                      .failed =
                          [&](int, const Status& why) {
                            failures += why.message() + '\n';
                            if (++num_failed == kNumHosts) loop.stop();
                          },
                      .ended = nullptr,
                      .phase = [](int, const std::string&) {},
                      .said = [](int, const std::string&) {}});
  loop.run();
  return failures;
}

// The errors by host for a user who may have so many threads, the first one included. In a process of its
// own, as the limit counts all threads of a user, and none of root's.
std::vector<std::string> failuresWithThreads(rlim_t most) {
  sys::Pipe pipe = sys::makePipe().value();
  const uid_t user = nobodyElses();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0 || ::setresuid(user, user, user) != 0) ::_exit(1);
    ::_exit(sys::writeAll(pipe.write_end.get(), failuresAtClosedPort()).ok() ? 0 : 1);
  }
  pipe.write_end.reset();
  std::vector<std::string> failures = split(sys::readAll(pipe.read_end, "pipe").value(), '\n');
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  std::erase(failures, "");
  return failures;
}

TEST(SshBootstrapper, ReachesHostsInTurnWithTheThreadsThatThereAre) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be a user who runs nothing else";
  for (const rlim_t most : {4U, 5U}) {  // the first, one for the bytes, some, and an ssh
    const std::vector<std::string> failures = failuresWithThreads(most);
    EXPECT_THAT(failures, SizeIs(kNumHosts));
    EXPECT_THAT(failures, Each(HasSubstr("Connection refused"))) << most;
  }
}

TEST(SshBootstrapper, WithoutAPlaceForSshNamesTheLimit) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be a user who runs nothing else";
  const std::vector<std::string> failures = failuresWithThreads(3);
  EXPECT_THAT(failures, SizeIs(kNumHosts));
  EXPECT_THAT(failures, Each(AllOf(HasSubstr("starting ssh: "), HasSubstr("`ulimit -u`"))));
}

TEST(SshBootstrapper, WithoutAnyThreadNamesTheLimit) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be a user who runs nothing else";
  for (const rlim_t most : {1U, 2U}) {
    const std::vector<std::string> failures = failuresWithThreads(most);
    EXPECT_THAT(failures, SizeIs(kNumHosts));
    EXPECT_THAT(failures, Each("poprun cannot start a thread to reach it: Resource temporarily "
                               "unavailable (see `ulimit -u`, and pids.max of poprun's cgroup)"));
  }
}

}  // namespace
}  // namespace pop
