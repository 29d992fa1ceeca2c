// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/doctor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pop {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

HostFindings fineHost(const std::string& name, const std::string& address) {
  return {.name = name,
          .peer_address = address,
          .own_name = name,
          .agent_version = "1.2",
          .agent_path = "/usr/bin/popdist-agent",
          .clock_ahead = -120ms,
          .round_trip = 432us,
          .address = address,
          .num_cpus = 8,
          .num_memory_nodes = 1,
          .free_shared_memory_bytes = kLeastSharedMemoryBytes,
          .open_files = kLeastOpenFiles};
}

// The report of one host, which has one problem.
std::string problemOf(const HostFindings& host) {
  const DoctorReport report = doctorReport({host}, "here", "1.2");
  EXPECT_FALSE(report.all_fine);
  EXPECT_EQ(report.text.find('\n'), report.text.size() - 1) << report.text;
  return report.text.substr(0, report.text.find('\n'));
}

TEST(DoctorReport, HasALineForEachHostThatIsFine) {
  HostFindings copied = fineHost("h1", "10.0.0.2");
  copied.agent_copied = true;
  copied.num_memory_nodes = 2;
  const DoctorReport report = doctorReport({fineHost("h0", "10.0.0.1"), copied}, "here", "1.2");
  EXPECT_TRUE(report.all_fine);
  EXPECT_EQ(report.text,
            "h0: fine: popdist-agent 1.2 (/usr/bin/popdist-agent), address 10.0.0.1, round trip 0.4 ms, "
            "clock -0.1 s, 8 CPUs in 1 memory node\n"
            "h1: fine: popdist-agent 1.2 (/usr/bin/popdist-agent, copied just now), address 10.0.0.2, round "
            "trip 0.4 ms, clock -0.1 s, 8 CPUs in 2 memory nodes\n");
}

ServiceFindings service() {
  return {.version = "1.2",
          .user = "runner",
          .own_running = {1, 2},
          .own_limits = {4, 0},
          .running = {3, 9},
          .limits = {16, 1024}};
}

TEST(DoctorReport, SaysWhatTheServiceOfAHostRunsAndAllows) {
  HostFindings host = fineHost("h0", "10.0.0.1");
  host.service = service();
  EXPECT_THAT(doctorReport({host}, "here", "1.2").text,
              HasSubstr("in 1 memory node, by its service as runner, where you run 1 of 4 jobs with 2 "
                        "instances, and all together 3 of 16 jobs with 9 of 1024 instances\n"));
}

TEST(DoctorReport, ANewProgramNeedsAServiceThatIsRestarted) {
  HostFindings host = fineHost("h0", "10.0.0.1");
  host.service = service();
  host.service->version = "1.1";
  EXPECT_EQ(problemOf(host),
            "h0: agent: the agent service there is still 1.1, the agents that it starts are 1.2; restart it "
            "(systemctl restart popdist-agent)");
}

TEST(DoctorReport, NamesAHostThatCannotBeUsedOnce) {
  HostFindings host = fineHost("h7", "");
  host.reached = unavailable("host h7: connecting: Connection refused");
  EXPECT_EQ(problemOf(host), "h7: cannot be used: connecting: Connection refused");
}

TEST(DoctorReport, SaysAllProblemsOfAllHosts) {
  HostFindings host = fineHost("h0", "10.0.0.1");
  host.clock_ahead = 5h + 61s;
  host.directory_problem = "/work: No such file or directory";
  host.open_files = 256;
  HostFindings other = fineHost("h1", "10.0.0.2");
  other.ports_problem = "no free ports";
  const DoctorReport report = doctorReport({host, other, fineHost("h2", "10.0.0.3")}, "here", "1.2");
  EXPECT_FALSE(report.all_fine);
  EXPECT_THAT(
      report.text,
      AllOf(StartsWith("h0: clock: 5 h 1 min ahead of this host's"),
            HasSubstr("\nh0: working directory: /work: No such file or directory; "), HasSubstr("--wdir"),
            HasSubstr("\nh0: open files: a process may open at most 256, which is fewer than 1024; "),
            HasSubstr("\nh1: ports: no free ports; --env-for"), HasSubstr("\nh2: fine: "),
            ::testing::EndsWith("\n1 of 3 hosts is fine\n")));
}

TEST(DoctorReport, LetsClocksDifferALittle) {
  HostFindings host = fineHost("h0", "10.0.0.1");
  for (const auto ahead : {5000ms, -5000ms}) {
    host.clock_ahead = ahead;
    EXPECT_TRUE(doctorReport({host}, "here", "1.2").all_fine);
  }
  host.clock_ahead = -5001ms;
  EXPECT_THAT(problemOf(host), StartsWith("h0: clock: 5.0 s behind this host's"));
  host.clock_ahead = 90 * 24h;
  EXPECT_THAT(problemOf(host), StartsWith("h0: clock: 90 days ahead of this host's"));
}

TEST(DoctorReport, NamesTheHostThatHasTheSameAddress) {
  const DoctorReport report =
      doctorReport({fineHost("a", "10.0.0.1"), fineHost("b", "10.0.0.1")}, "here", "1.2");
  EXPECT_THAT(report.text,
              AllOf(StartsWith("a: fine: "), HasSubstr("\nb: address: 10.0.0.1 is that of a too"),
                    HasSubstr("--host-subnet")));
  EXPECT_FALSE(report.all_fine);
}

TEST(DoctorReport, HostsWithoutAnAddressAreNotTheSame) {
  HostFindings a = fineHost("a", "");
  HostFindings b = fineHost("b", "");
  a.address_problem = b.address_problem = "no address of this host is in --host-subnet 192.0.2.0/24";
  EXPECT_THAT(
      doctorReport({a, b}, "here", "1.2").text,
      AllOf(StartsWith("a: address: no address of this host"), HasSubstr("\nb: address: no address")));
}

TEST(DoctorReport, TellsANameThatLeadsBackHere) {
  HostFindings host = fineHost("node1", "10.0.0.1");
  host.peer_address = "127.0.1.1";
  host.own_name = "here";
  EXPECT_THAT(problemOf(host), AllOf(StartsWith("node1: address: its name resolves to 127.0.1.1"),
                                     HasSubstr("/etc/hosts"), HasSubstr("--ssh-config")));
  host.own_name = "far";  // a tunnel
  EXPECT_TRUE(doctorReport({host}, "here", "1.2").all_fine);
}

TEST(DoctorReport, NamesTheKnobOfEveryOtherProblem) {
  HostFindings host = fineHost("h", "10.0.0.1");
  host.agent_version = "1.1";
  EXPECT_THAT(problemOf(host),
              AllOf(StartsWith("h: agent: popdist-agent there is 1.1 (/usr/bin/popdist-agent), "
                               "poprun is 1.2"),
                    HasSubstr("--agent-path")));
  host = fineHost("h", "10.0.0.1");
  host.topology_problem = "popdist-topology: is not there, or use --process-placement disabled";
  EXPECT_THAT(problemOf(host), EndsWith("h: CPUs and memory: " + host.topology_problem));
  host = fineHost("h", "10.0.0.1");
  host.free_shared_memory_bytes = 3 << 20;
  EXPECT_THAT(problemOf(host),
              AllOf(StartsWith("h: shared memory: /dev/shm has 3 MiB free, which is less than 64 "
                               "MiB"),
                    HasSubstr("--shm-size")));
  host = fineHost("h", "10.0.0.1");
  host.shared_memory_problem = "/dev/shm: No such file or directory";
  EXPECT_THAT(problemOf(host), StartsWith("h: shared memory: /dev/shm: No such file or directory; mount"));
}

TEST(DoctorReport, LetsNothingThroughToTheTerminal) {
  HostFindings host = fineHost("h", "10.0.0.1");
  host.reached = unavailable("it says \x1b[2J\nh: fine");
  EXPECT_EQ(problemOf(host), "h: cannot be used: it says \\x1b[2J\\x0ah: fine");
}

}  // namespace
}  // namespace pop
