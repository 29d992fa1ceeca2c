// SPDX-License-Identifier: Apache-2.0
// The hosts that other tests stand on: they are apart from each other, reachable, and leave nothing.
#include "tests/testing/test_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "tests/testing/process_tree.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

TEST(TestHosts, EachHasItsOwnNameHomeAndProcesses) {
  TestHosts hosts(2);
  EXPECT_EQ(hosts.run(0, "uname -n").text, "h0\n");
  EXPECT_EQ(hosts.run(1, "uname -n").text, "h1\n");
  EXPECT_EQ(hosts.run(0, "echo mine >~root/file; echo mine >/tmp/file").exit_code, 0);
  EXPECT_NE(hosts.run(1, "cat ~root/file").exit_code, 0);
  EXPECT_NE(hosts.run(1, "cat /tmp/file").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(hosts.home(0) + "/file"));
  EXPECT_TRUE(hosts.processesOn(0).empty());
}

TEST(TestHosts, SshReachesEachByItsNameAndEachReachesTheOthers) {
  TestHosts hosts(2);
  const std::string ssh = "ssh -F " + hosts.sshConfig() + " -o BatchMode=yes ";
  EXPECT_EQ(::system((ssh + "h1 'test $(uname -n) = h1'").c_str()), 0) << hosts.sshdLog(1);
  const TestHosts::Output output = hosts.run(0, "ssh -o BatchMode=yes root@h1 uname -n");
  EXPECT_EQ(output.text, "h1\n");
  EXPECT_EQ(::system((ssh + "-o HostKeyAlias=h1 " + hosts.address6(1) + " true").c_str()), 0);
}

TEST(TestHosts, ACutHostIsSilentAndComesBack) {
  TestHosts hosts(2);
  hosts.linkDown(1);
  EXPECT_NE(
      hosts.run(0, "ping -c1 -W1 h1 || ssh -o ConnectTimeout=1 -o BatchMode=yes root@h1 true").exit_code, 0);
  hosts.linkUp(1);
  hosts.waitForSshd(1);
}

TEST(TestHosts, AKilledSshdCanBeStartedAgain) {
  TestHosts hosts(1);
  hosts.killSshd(0);
  EXPECT_THAT(hosts.run(0, "ssh -o BatchMode=yes root@h0 true").text, HasSubstr("refused"));
  hosts.startSshd(0);
  EXPECT_EQ(hosts.run(0, "ssh -o BatchMode=yes root@h0 true").exit_code, 0);
}

TEST(TestHosts, NothingIsLeftWhenTheirOwnerIsKilled) {
  sys::Pipe ready = std::move(sys::makePipe()).value();
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const TestHosts hosts(1);
    const std::string line = hosts.address(0) + ' ' + hosts.clientHome() + '\n';
    if (!sys::writeAll(ready.write_end.get(), line).ok()) ::_exit(1);
    for (;;) ::pause();
  }
  std::string told;
  for (char next = 0; ::read(ready.read_end.get(), &next, 1) == 1 && next != '\n';) told += next;
  const std::string address = told.substr(0, told.find(' ')), directory = told.substr(told.find(' ') + 1);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  const std::string link = "ip -brief addr | grep -q " + address.substr(0, address.rfind('.') + 1);
  EXPECT_TRUE(waitUntil([&] { return ::system(link.c_str()) != 0; }, Milliseconds(10000)));
  EXPECT_TRUE(waitUntil([&] { return !std::filesystem::exists(directory); }, Milliseconds(10000)));
}

TEST(TestHosts, ThirtyTwoAreThereInSeconds) {
  const auto begin = std::chrono::steady_clock::now();
  const TestHosts hosts(32);
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::seconds(30));  // here 1 s, on an idle machine
  EXPECT_EQ(hosts.run(31, "ssh -o BatchMode=yes root@h0 uname -n").text, "h0\n");
}

}  // namespace
}  // namespace pop::testing
