// SPDX-License-Identifier: Apache-2.0
// A job over several hosts is like one on a single host.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "tests/integration/hosts/hosts_fixture.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

class JobOnHosts : public HostsTest {};

// For a poprun on one of the hosts, with that host's own SSH configuration.
PoprunSetup there(std::vector<std::string> options) {
  options.insert(options.begin(), {"--agent-path", POP_BIN_DIR "/popdist-agent"});
  return {.options = std::move(options), .child = {}, .directory = POP_BIN_DIR};
}

// The host's sshd is away, so that a login would fail.
TEST_F(JobOnHosts, RunsOnTheLaunchersOwnHostByAnyOfItsAddresses) {
  hosts.killSshd(0);
  for (const std::string& own : {hosts.address(0), hosts.address6(0), "[" + hosts.address6(0) + "]:1"}) {
    PoprunSetup setup = there({"--host", own + ",h1", "-n", "2", "sh", "-c", "uname -n"});
    setup.program = poprunOn(0);
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 0) << own << ": " << outcome.err;
    EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("[0] h0", "[1] h1")) << own;
  }
}

// The directory may be a home that each host has mounted elsewhere, behind a link of one name.
TEST_F(JobOnHosts, RunsInTheDirectoryThatTheUserHasNamed) {
  for (int host = 0; host < 2; ++host)
    hosts.run(host, "mkdir /tmp/disk" + std::to_string(host) + "; ln -s disk" + std::to_string(host) +
                        " /tmp/work");
  const auto directories = [&](const std::string& pwd) {
    PoprunSetup setup = there({"--host", "h0,h1", "-n", "2", "pwd", "-P"});
    setup.program = poprunOn(0, "/tmp/work", pwd);
    const Outcome outcome = run(setup);
    return outcome.exit_code == 0 ? linesOf(outcome.out) : std::vector<std::string>{outcome.err};
  };
  EXPECT_THAT(directories("/tmp/work"), UnorderedElementsAre("[0] /tmp/disk0", "[1] /tmp/disk1"));
  EXPECT_THAT(directories("/tmp"), Contains(HasSubstr("/tmp/disk0"))) << "not where poprun is";
}

TEST_F(JobOnHosts, RunsEachInstanceOnItsHost) {
  const Outcome outcome = run(job({"-n", "6", "sh", "-c", "echo $(uname -n) $POPDIST_INSTANCE_INDEX $PWD"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("[0] h0 0 " POP_BIN_DIR, "[1] h0 1 " POP_BIN_DIR,
                                                         "[2] h1 2 " POP_BIN_DIR, "[3] h1 3 " POP_BIN_DIR,
                                                         "[4] h2 4 " POP_BIN_DIR, "[5] h2 5 " POP_BIN_DIR));
  EXPECT_EQ(said(outcome.err), "");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobOnHosts, KnowsAddressesThatTheOthersReach) {
  const Outcome outcome =
      run(job({"-n", "3", "--tag-output", "no", "sh", "-c", "echo $MASTER_ADDR; echo $TF_CONFIG"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const std::string& line : linesOf(outcome.out)) {
    if (line.front() != '{') {
      EXPECT_EQ(line, hosts.address(0));
      continue;
    }
    for (int host = 0; host < 3; ++host) EXPECT_THAT(line, HasSubstr('"' + hosts.address(host) + ':'));
  }
}

TEST_F(JobOnHosts, TakesAddressesInTheSubnetThatIsAskedFor) {
  const Outcome outcome = run(job({"-n", "3", "--host-subnet", hosts.address6(0) + "/64", "--tag-output",
                                   "no", "sh", "-c", "echo $MASTER_ADDR"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), Each(hosts.address6(0)));
  const Outcome by_name = run(
      job({"-n", "3", "--host-subnet", "ib0,eth0", "--tag-output", "no", "sh", "-c", "echo $MASTER_ADDR"}));
  EXPECT_THAT(linesOf(by_name.out), Each(hosts.address(0))) << by_name.err;
  const Outcome nowhere = run(job({"-n", "3", "--host-subnet", "192.0.2.0/24", "true"}));
  EXPECT_EQ(nowhere.exit_code, 125);
  EXPECT_THAT(nowhere.err, HasSubstr("no address of this host is in --host-subnet 192.0.2.0/24"));
}

TEST_F(JobOnHosts, EndsWithTheFirstFailure) {
  const Outcome outcome = run(job({"-n", "3"}, {"fail-until", "1", "7"}));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("instance 2 of"));
  EXPECT_THAT(outcome.err, HasSubstr("exited with code 7"));
  EXPECT_THAT(outcome.err, HasSubstr("on h2"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobOnHosts, TakesItsOptionsFromPipes) {
  OptionPipes pipes;
  PoprunSetup setup = jobFromPipes(pipes, "num-instances = 3\ntag-output = host\n");
  setup.options.insert(setup.options.end(), {"uname", "-n"});
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("h0:0: h0", "h1:1: h1", "h2:2: h2"));
}

TEST_F(JobOnHosts, PassesSignalsOn) {
  PoprunProcess poprun(job({"-n", "3"}, {"say-signals"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  poprun.signal(SIGUSR1);
  ASSERT_TRUE(poprun.waitFor([&] {
    const std::vector<std::string> lines = linesOf(poprun.out());
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
             return line.find("SIGUSR1") != std::string::npos;
           }) == 3;
  })) << poprun.out();
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130) << poprun.err();
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobOnHosts, CarriesMuchOutputWhole) {
  const Outcome outcome = run(job({"-n", "3", "--tag-output", "no"}, {"lines", "20000", "100"}));
  EXPECT_EQ(outcome.exit_code, 0);
  std::vector<std::string> expected;
  for (int instance = 0; instance < 3; ++instance) {
    for (int number = 0; number < 20000; ++number) {
      std::string line = lineText(instance, 'o', number, 100);
      line.pop_back();
      expected.push_back(line);
    }
  }
  EXPECT_EQ(sorted(linesOf(outcome.out)) == sorted(expected), true) << outcome.out.size();
}

TEST_F(JobOnHosts, OpensNoPortThatOtherHostsReach) {
  const auto listening = [this] {
    std::vector<std::string> all;
    for (int host = 0; host < hosts.count(); ++host) {
      const TestHosts::Output sockets =
          hosts.run(host, "ss -H --listening --tcp --numeric | awk '$4 !~ /^127[.]/ {print $4}'");
      EXPECT_EQ(sockets.exit_code, 0);
      EXPECT_THAT(sockets.text, HasSubstr(":22\n")) << "sshd's own";
      all.push_back(sockets.text);
    }
    return all;
  };
  const std::vector<std::string> before = listening();
  PoprunProcess poprun(job({"-n", "3"}, {"wait"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  EXPECT_EQ(listening(), before);
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
}

TEST_F(JobOnHosts, LeavesNoDaemonOnAnyHost) {
  const Outcome outcome = run(job({"-n", "3"}, {"leave-daemon", "0"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobOnHosts, StartsAgainAfterAFailure) {
  const Outcome outcome = run(job({"-n", "3", "--max-restarts", "2"}, {"fail-until", "2", "5"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobOnHosts, TakesThisHostToo) {
  PoprunSetup setup = job({"-n", "4", "--tag-output", "no", "sh", "-c", "echo $(uname -n) $(ulimit -Sn)"});
  setup.options[5] += ",localhost";
  setup.descriptor_limit = 321;
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = linesOf(outcome.out);
  EXPECT_THAT(lines, SizeIs(4));
  for (const char* host : {"h0 ", "h1 ", "h2 "}) EXPECT_THAT(lines, Contains(StartsWith(host)));
  EXPECT_THAT(lines, Contains(EndsWith(" 321")));  // as poprun found it
}

// Our own first interface leads elsewhere.
TEST_F(JobOnHosts, TellsTheOthersWhereTheyReachThisHost) {
  PoprunSetup setup = job({"-n", "4", "--tag-output", "no", "sh", "-c", "echo $TF_CONFIG"});
  setup.options[5] += ",localhost";
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), AllOf(SizeIs(4), Each(HasSubstr('"' + hosts.ownAddress() + ':'))));
}

TEST_F(JobOnHosts, SeesLibpopdistsSettings) {
  PoprunSetup setup = job({"-n", "3", "--tag-output", "no", "sh", "-c", "echo $POPDIST_BACKEND $NCCL_DEBUG"});
  setup.environment = {{"POPDIST_BACKEND", "grpc"}, {"NCCL_DEBUG", "INFO"}};
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), AllOf(SizeIs(3), Each("grpc")));
}

// A pipe can be read once.
TEST_F(JobOnHosts, HasTheSystemOfAFileOnEveryHost) {
  OptionPipes pipes;
  const std::string file = pipes.named("system mine  # of a torus\nbase pod64-torus\nmachines 2\n");
  const Outcome outcome = run(job(
      {"-n", "3", "--system", file, "--tag-output", "host", "sh", "-c", "echo ${POPDIST_SYSTEM%%; mach*}"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out),
              UnorderedElementsAre("h0:0: system mine; ilds 1", "h1:1: system mine; ilds 1",
                                   "h2:2: system mine; ilds 1"));
}

TEST_F(JobOnHosts, SeesTheWholeEnvironmentWhereAsked) {
  for (const char* option : {"-genvall", "--genvall=yes"}) {
    PoprunSetup setup =
        job({option, "-n", "3", "--tag-output", "no", "sh", "-c", "echo $NCCL_DEBUG $SSH_AUTH_SOCK $RANK"});
    setup.environment = {{"NCCL_DEBUG", "INFO"}, {"SSH_AUTH_SOCK", "/nowhere"}, {"RANK", "7"}};
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("INFO 0", "INFO 1", "INFO 2"));
  }
}

class JobOnNodes : public JobOnHosts {
 protected:
  // One of our hosts has two memory nodes, and an agent without popdist-topology.
  JobOnNodes() {
    hosts.run(1, "cp " POP_BIN_DIR "/popdist-agent " POP_BIN_DIR
                 "/popdist-agent-service /tmp; mkdir /tmp/node; "
                 "echo 0-1 >/tmp/node/online; mount --bind /tmp/node /sys/devices/system/node");
    for (const int host : {0, 2}) hosts.run(host, "cp " POP_BIN_DIR "/popdist-agent /tmp");
  }
  PoprunSetup nodesJob(std::vector<std::string> options) const {
    PoprunSetup setup = job(std::move(options));
    setup.options[3] = "/tmp/popdist-agent";
    return setup;
  }
};

TEST_F(JobOnNodes, IsNotBoundWhereNodesAreUnknown) {
  const Outcome one_each = run(nodesJob({"-n", "3", "uname", "-n"}));
  EXPECT_EQ(one_each.exit_code, 0);
  EXPECT_EQ(said(one_each.err), "");
  const Outcome two_each = run(nodesJob({"-n", "6", "--report-bindings", "yes", "uname", "-n"}));
  EXPECT_EQ(two_each.exit_code, 0);
  EXPECT_THAT(two_each.err,
              AllOf(HasSubstr("host h1: nothing is bound: cannot determine the memory nodes and cores: "
                              "/tmp/popdist-topology is not there: install poprun on this host and "
                              "name it (--agent-path PREFIX/bin/popdist-agent), or use "
                              "--process-placement disabled"),
                    HasSubstr("the memory nodes are not known")));
}

TEST_F(JobOnNodes, IsRefusedWhereItsPlacementWasAskedFor) {
  const Outcome asked = run(nodesJob({"-n", "6", "--process-placement", "spreadnuma", "uname", "-n"}));
  EXPECT_EQ(asked.exit_code, 125);
  EXPECT_THAT(asked.err,
              HasSubstr("cannot be bound on host h1: cannot determine the memory nodes and cores: "));
}

TEST_F(JobOnHosts, TakesARelativeDirectoryFromWhereItIsStarted) {
  const Outcome outcome = run(job({"-n", "3", "--wdir", "../tests", "--tag-output", "no", "pwd"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string expected = std::filesystem::path(POP_BIN_DIR).parent_path() / "tests";
  EXPECT_THAT(linesOf(outcome.out), AllOf(SizeIs(3), Each(expected)));
}

TEST_F(JobOnHosts, HasItsExecutableCacheMadeOnEachHost) {
  const TempDir directory;  // in /tmp, of which every host has its own
  const std::string cache = directory.path() + "/cache";
  const Outcome outcome = run(job({"-n", "3", "--executable-cache-path", cache, "--tag-output", "no", "sh",
                                   "-c", "echo $(uname -n); rmdir $POPDIST_EXECUTABLE_CACHE_PATH"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("h0", "h1", "h2"));
  EXPECT_FALSE(std::filesystem::exists(cache)) << "no instance runs here";
}

TEST_F(JobOnHosts, NamesTheHostsOnWhichItsExecutableCacheCannotBeMade) {
  const Outcome outcome = run(job({"-n", "3", "--executable-cache-path", "/dev/null/cache", "true"}));
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(
      said(outcome.err),
      "poprun: the job cannot be placed on hosts h0, h1 and h2: --executable-cache-path /dev/null/cache: "
      "Not a directory\n");
}

TEST_F(JobOnHosts, NamesADirectoryThatIsNotThere) {
  PoprunSetup setup = job({"-n", "3", "--wdir", "/nowhere/at/all", "true"});
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 126) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/at/all"));
}

TEST_F(JobOnHosts, IsReachedByAProgram) {
  const std::string rsh = "ssh -F " + hosts.sshConfig();
  const Outcome outcome = run(job({"--rsh", rsh, "-n", "3", "--tag-output", "no", "uname", "-n"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("h0", "h1", "h2"));
  EXPECT_EQ(leftOnHosts(), "");
}

// poprun does not see at which address the program has reached a host.
TEST_F(JobOnHosts, KnowsAddressesThoughReachedByAProgram) {
  const std::string elsewhere_first =
      "set -e; dev=$(ip -o -4 addr show to " + hosts.address(0) +
      " | cut -d' ' -f2); "
      "all=$(ip -o -4 addr show dev $dev | sed 's/.*inet \\([^ ]*\\).*/\\1/'); "
      "ip -4 addr flush dev $dev; for each in 198.51.100.1/24 $all; do ip addr add $each dev $dev; done";
  const TestHosts::Output changed = hosts.run(0, elsewhere_first);
  ASSERT_EQ(changed.exit_code, 0) << changed.text;
  const std::string rsh = "ssh -F " + hosts.sshConfig();
  const Outcome outcome =
      run(job({"--rsh", rsh, "-n", "3", "--tag-output", "no", "sh", "-c", "echo $MASTER_ADDR"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), Each(hosts.address(0)));
}

TEST_F(JobOnHosts, GivesUpAHostThatDoesNotAnswer) {
  hosts.linkDown(1);
  const Outcome outcome = run(job({"--connect-timeout", "1", "-n", "3", "true"}));
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, HasSubstr("h1"));
  EXPECT_THAT(outcome.err, HasSubstr("--connect-timeout"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobOnHosts, LosesAHostThatGivesNoSignOfLife) {
  PoprunProcess poprun(job({"--host-silence", "4.5", "-n", "3"}, {"wait"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  hosts.linkDown(1);
  EXPECT_EQ(poprun.wait(), 125);
  EXPECT_THAT(poprun.err(), HasSubstr("host h1 was lost"));
  EXPECT_THAT(poprun.err(), HasSubstr("nothing was received for 4.5 s (--host-silence)"));
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
