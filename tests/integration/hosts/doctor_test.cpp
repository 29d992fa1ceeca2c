// SPDX-License-Identifier: Apache-2.0
// poprun doctor on real hosts: it says what would fail there, and leaves nothing.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/integration/hosts/hosts_fixture.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class DoctorOnHosts : public HostsTest {
 protected:
  /// Runs on our hosts, with these options after those that reach them.
  Outcome examine(const std::vector<std::string>& options, const std::string& directory = POP_BIN_DIR) const {
    PoprunSetup setup = job(options);
    setup.options.insert(setup.options.begin(), "doctor");
    setup.directory = directory;
    return run(setup);
  }

  /// The host's popdist-agent is a script that executes `command` and its own arguments.
  void install(int host, const std::string& command) const {
    const std::string path = hosts.bin(host) + "/popdist-agent";
    std::ofstream(path) << "#!/bin/sh\nexec " << command << " \"$@\"\n";
    std::filesystem::permissions(path, std::filesystem::perms(0755));
  }

  /// The agent there reads, and does not answer.
  void installMute(int host) const {
    install(host, "sh -c 'case $1 in --version) exec " POP_BIN_DIR
                  "/popdist-agent --version;; *) exec cat >/dev/null;; esac' sh");
  }
};

TEST_F(DoctorOnHosts, HasALineForEachHostThatIsFine) {
  const Outcome outcome = examine({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(said(outcome.err), "");
  const std::vector<std::string> lines = linesOf(outcome.out);
  ASSERT_EQ(lines.size(), 3U) << outcome.out;
  for (int host = 0; host < 3; ++host) {
    EXPECT_THAT(lines[static_cast<std::size_t>(host)],
                MatchesRegex(hosts.name(host) +
                             ": fine: popdist-agent [0-9.]+ \\(" POP_BIN_DIR "/popdist-agent\\), address " +
                             hosts.address(host) +
                             ", round trip [0-9.]+ ms, clock [+-][0-9.]+ s, [0-9]+ CPUs? in [0-9]+ memory "
                             "nodes?"));
  }
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, TakesItsOptionsFromPipes) {
  OptionPipes pipes;
  PoprunSetup setup = jobFromPipes(pipes, "wdir = /nowhere\n");
  setup.options.insert(setup.options.begin(), "doctor");
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("h2: working directory: /nowhere: No such file or directory"));
}

TEST_F(DoctorOnHosts, SaysAllProblemsAtOnce) {
  hosts.killSshd(1);
  const TempDir directory;  // in /tmp, of which every host has its own
  PoprunSetup setup = job({"--connect-timeout", "5"});
  setup.options.insert(setup.options.begin(), "doctor");
  for (std::string& option : setup.options) {
    if (option == names()) option += ",nowhere.invalid,localhost";
  }
  setup.directory = directory.path();
  std::filesystem::create_directories(hosts.tmp(0) + directory.path().substr(4));
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      AllOf(StartsWith("h0: fine: "), HasSubstr("\nh1: cannot be used: "), HasSubstr("Connection refused"),
            HasSubstr("\nh2: working directory: " + directory.path() + ": No such file or directory; "),
            HasSubstr("\nnowhere.invalid: cannot be used: "), HasSubstr("\nlocalhost: fine: "),
            HasSubstr("\n2 of 5 hosts are fine\n")));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, TellsAClockHoursApart) {
  const std::string other_clock =
      "env ASAN_OPTIONS=verify_asan_link_order=0 faketime -f +5h " DYNAMIC_AGENT_PATH;
  for (int host = 0; host < 3; ++host) install(host, host == 1 ? other_clock : POP_BIN_DIR "/popdist-agent");
  PoprunSetup setup = job({});
  setup.options.insert(setup.options.begin(), "doctor");
  for (std::string& option : setup.options) {
    if (option == POP_BIN_DIR "/popdist-agent") option = "/usr/local/bin/popdist-agent";
  }
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("h0: fine: "), HasSubstr("\nh2: fine: "),
                                 ::testing::ContainsRegex("\nh1: clock: (5 h 0 min|4 h 59 min) ahead of")));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, SaysWhereItHadToCopyTheAgent) {
  PoprunSetup setup{.options = {"doctor", "--ssh-config", hosts.sshConfig(), "--host", names()},
                    .directory = POP_BIN_DIR};
  install(1, POP_BIN_DIR "/popdist-agent");
  for (const int host : {0, 2})
    hosts.run(host, "mount -t tmpfs tmpfs " POP_BIN_DIR);  // it is not where ours is
  const Outcome first = run(setup);
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  for (const std::string& line : linesOf(first.out)) {
    const bool has_none = !line.starts_with("h1");
    EXPECT_EQ(line.find(", copied just now)") != std::string::npos, has_none) << line;
    EXPECT_EQ(line.find("/.cache/poprun/popdist-agent-") != std::string::npos, has_none) << line;
  }
  EXPECT_THAT(run(setup).out, Not(HasSubstr("copied")));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, GivesUpAnAgentThatSaysNothing) {
  for (int host = 0; host < 3; ++host) install(host, POP_BIN_DIR "/popdist-agent");
  installMute(1);
  const Outcome outcome = run(
      {.options = {"doctor", "--ssh-config", hosts.sshConfig(), "--host", names(), "--connect-timeout", "4"},
       .directory = POP_BIN_DIR});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("h0: fine: "),
                    HasSubstr("\nh1: cannot be used: its agent has not answered within "
                              "4000 ms (--connect-timeout); does the working directory, " POP_BIN_DIR
                              ", answer there?\nh2: fine: ")));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, SaysHowAnAgentThatFailsHasEnded) {
  for (int host = 0; host < 3; ++host) install(host, POP_BIN_DIR "/popdist-agent");
  install(1, "sh -c 'case $1 in --version) exec " POP_BIN_DIR
             "/popdist-agent --version;; *) echo broken >&2; exit 3;; esac' sh");
  const Outcome outcome = run({.options = {"doctor", "--ssh-config", hosts.sshConfig(), "--host", names()},
                               .directory = POP_BIN_DIR});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              HasSubstr("\nh1: cannot be used: the popdist-agent there ended with exit code 3\n"));
  EXPECT_THAT(outcome.err, HasSubstr("poprun: h1: broken\n"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, SaysWhoIsWaitedForAndCanBeInterrupted) {
  for (int host = 0; host < 3; ++host) install(host, POP_BIN_DIR "/popdist-agent");
  installMute(1);
  PoprunProcess poprun(
      {.options = {"doctor", "--ssh-config", hosts.sshConfig(), "--host", names(), "--connect-timeout", "60"},
       .directory = POP_BIN_DIR});
  const std::string wanted = "poprun: waiting for 1 of 3 hosts (h1: waiting for its agent's answer)\n";
  EXPECT_TRUE(poprun.waitFor([&] { return poprun.err().find(wanted) != std::string::npos; })) << poprun.err();
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), -SIGINT);
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(DoctorOnHosts, NamesAHostWithoutAnAddressInTheSubnet) {
  const Outcome outcome = examine({"--host-subnet", "192.0.2.0/24"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("h0: address: no address of this host is in --host-subnet 192.0.2.0/24"),
                    HasSubstr("\n0 of 3 hosts are fine\n")));
}

TEST_F(DoctorOnHosts, NamesHostsThatAreOne) {
  PoprunSetup setup = job({});
  setup.options.insert(setup.options.begin(), "doctor");
  for (std::string& option : setup.options) {
    if (option == names()) option = "h0," + hosts.address(0);
  }
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("h0: fine: "),
                                 HasSubstr("\n" + hosts.address(0) + ": address: " + hosts.address(0) +
                                           " is that of h0 too")));
}

TEST_F(DoctorOnHosts, NamesFewDescriptorsAndLittleSharedMemory) {
  install(0, "prlimit --nofile=200:200 " POP_BIN_DIR "/popdist-agent");
  for (int host = 1; host < 3; ++host) install(host, POP_BIN_DIR "/popdist-agent");
  ASSERT_EQ(hosts.run(2, "mount -o remount,size=1m /dev/shm").exit_code, 0);
  PoprunSetup setup{.options = {"doctor", "--ssh-config", hosts.sshConfig(), "--host", names()},
                    .directory = POP_BIN_DIR};
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      AllOf(StartsWith("h0: open files: a process may open at most 200, "), HasSubstr("\nh1: fine: "),
            HasSubstr("\nh2: shared memory: /dev/shm has 1 MiB free, "), HasSubstr("1 of 3 hosts is fine")));
}

TEST_F(DoctorOnHosts, TakesNoProgramAndStartsOneOfThatName) {
  const Outcome with_program = examine({"train"});
  EXPECT_EQ(with_program.exit_code, 125);
  EXPECT_THAT(with_program.err, HasSubstr("doctor starts no program: leave out 'train'"));
  const TempDir directory;
  std::ofstream(directory.path() + "/doctor") << "#!/bin/sh\necho it is me\n";
  std::filesystem::permissions(directory.path() + "/doctor", std::filesystem::perms(0755));
  const Outcome program =
      run({.options = {"--", "doctor"}, .environment = {{"PATH", directory.path() + ":/bin"}}});
  EXPECT_EQ(program.exit_code, 0) << program.err;
  EXPECT_EQ(program.out, "it is me\n");
}

}  // namespace
}  // namespace pop::testing
