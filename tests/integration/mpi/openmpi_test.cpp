// SPDX-License-Identifier: Apache-2.0
// Programs linked with Open MPI, on one host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "common/os/helper_run.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/agent/mpi/pmix_program/loopback.h"
#include "tests/unit/agent/mpi/pmix_program/other_user.h"

namespace pop::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

/// Ranks spin where they wait, also when there are more of them than cores.
constexpr Milliseconds kSpinningTimeout{120'000};

PoprunSetup job(int instances, const std::string& task, std::vector<std::string> options = {}) {
  options.insert(options.end(),
                 {"-np", std::to_string(instances), "--tag-output", "no", OPENMPI_CHILD_PATH, task});
  return {.options = std::move(options)};
}

class OpenMpiHello : public ::testing::TestWithParam<int> {};

TEST_P(OpenMpiHello, IsOneWorldOfAllInstances) {
  const int instances = GetParam();
  const Outcome outcome = run(job(instances, "hello"), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0);
  std::vector<std::string> lines;
  for (int rank = 0; rank < instances; ++rank) {
    lines.push_back("rank " + std::to_string(rank) + " of " + std::to_string(instances) + ", " +
                    std::to_string(instances) + " on this host, sum " +
                    std::to_string(instances * (instances - 1) / 2));
  }
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAreArray(lines));
  EXPECT_EQ(outcome.err, "");
}

INSTANTIATE_TEST_SUITE_P(Instances, OpenMpiHello, ::testing::Values(1, 2, 4));

TEST(OpenMpi, StartsAlonePerInstanceWithoutItsVariables) {
  const TempDir sessions;  // Open MPI leaves an empty one behind
  PoprunSetup setup = job(2, "hello", {"--env-for", "openmp"});
  setup.environment["OMPI_MCA_orte_tmpdir_base"] = sessions.path();
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), SizeIs(2));
  EXPECT_THAT(linesOf(outcome.out), Each(std::string("rank 0 of 1, 1 on this host, sum 0")));
}

TEST(OpenMpi, RunsInsideASlurmAllocation) {
  PoprunSetup setup = job(2, "hello");
  setup.environment = {{"SLURM_JOBID", "1"},
                       {"SLURM_NODELIST", "here"},
                       {"PMIX_NAMESPACE", "slurm.1"},
                       {"PMIX_SERVER_URI41", "slurm.1;tcp4://127.0.0.1:1"}};
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 of 2"));
}

TEST(OpenMpi, NumbersTheProgramsOfAJob) {
  PoprunSetup setup = job(1, "program");
  setup.options.insert(setup.options.end(), {":", "-np", "2", OPENMPI_CHILD_PATH, "program"});
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out),
              UnorderedElementsAreArray(
                  {"rank 0 is of program 0", "rank 1 is of program 1", "rank 2 is of program 1"}));
}

TEST(OpenMpi, EndsTheJobByMpiAbort) {
  const Outcome outcome = run(job(3, "abort"), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("instance 2 of "));
  EXPECT_THAT(outcome.err, HasSubstr("called MPI_Abort(7)"));
}

// Open MPI would leave all but the first waiting.
TEST(OpenMpi, EndsTheJobThatWantsToSpawn) {
  const Outcome outcome = run(job(2, "spawn"), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("called MPI_Comm_spawn("));
  EXPECT_THAT(outcome.err, HasSubstr("which poprun does not support: start all processes with poprun -n"));
}

TEST(OpenMpi, LeavesASpawnToTheProgramThatIsAlone) {
  const Outcome outcome = run(job(1, "spawn"), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("not spawned"));
}

TEST(OpenMpi, DoesNotWaitForAnInstanceThatHasEnded) {
  const Outcome outcome = run(job(3, "without-1"), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("waits in MPI_Init or MPI_Finalize for instance 1, which has ended"));
}

TEST(OpenMpi, FinishesWithoutAnInstanceThatDoesNot) {
  const Outcome outcome = run(job(3, "unfinished"), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(OpenMpi, MayStartSeveralTimesInAnInstance) {
  PoprunSetup setup{.options = {"-np", "2", "--tag-output", "no", "sh", "-c",
                                OPENMPI_CHILD_PATH " hello; " OPENMPI_CHILD_PATH " hello"}};
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), SizeIs(4));
  // Two of the three start again, and the third has ended properly.
  setup.options[1] = "3";
  setup.options.back() = OPENMPI_CHILD_PATH " hello; exec " OPENMPI_CHILD_PATH " without-1";
  const Outcome stuck = run(setup, kSpinningTimeout);
  EXPECT_EQ(stuck.exit_code, 1);
  EXPECT_THAT(stuck.err, HasSubstr("waits in MPI_Init or MPI_Finalize for instance 1, which has ended"));
}

// libpmix would count one instance less in the second program.
TEST(OpenMpi, EndsTheJobOfAnInstanceThatStartsAgainWithoutAnEnd) {
  const PoprunSetup setup{.options = {"-np", "3", "--tag-output", "no", "sh", "-c",
                                      OPENMPI_CHILD_PATH
                                      " unfinished; "
                                      "[ $POPDIST_INSTANCE_INDEX = 1 ] || exec sleep 1000; "
                                      "exec " OPENMPI_CHILD_PATH " hello"}};
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("instance 1 of "));
  EXPECT_THAT(outcome.err, HasSubstr("starts an MPI program, and one that it has started before has not "
                                     "called MPI_Finalize"));
}

TEST(OpenMpi, IsServedAgainAfterARestart) {
  const Outcome outcome = run(job(2, "fail-once", {"--max-restarts", "1"}), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAreArray({"sum 1", "sum 1"}));
  EXPECT_THAT(outcome.err, HasSubstr("exited with code 3"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("popdist-pmix")));
}

TEST(OpenMpi, EndsTheJobWhereItIsNotServed) {
  const TempDir elsewhere;
  std::filesystem::copy(POP_BIN_DIR "/poprun", elsewhere / "poprun");
  PoprunSetup setup = job(2, "hello");
  setup.program = elsewhere / "poprun";
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err,
              HasSubstr("an instance speaks PMIx, which needs popdist-pmix beside poprun's other programs"));
  EXPECT_EQ(outcome.out, "");
}

// ---- while it runs

class ServedOpenMpi : public ::testing::Test {
 protected:
  explicit ServedOpenMpi(std::vector<std::string> options = {OPENMPI_CHILD_PATH, "serve"})
      : options_(std::move(options)) {
    EXPECT_TRUE(poprun.waitFor([this] { return poprun.out().ends_with('\n'); }, kSpinningTimeout))
        << poprun.err();
    const std::string said = linesOf(poprun.out()).at(0);
    port = std::stoi(said.substr(said.rfind(':') + 1));
    directory = said.substr(said.find(' ') + 1);
    EXPECT_TRUE(waitUntil([this] { return server() > 0 && portsOf(server()).size() == 2; }, kTimeout));
    EXPECT_TRUE(std::filesystem::is_directory(directory));
  }

  pid_t server() const {
    for (const pid_t pid : processesWith(poprun.token())) {
      if (const auto stat = statOf(pid); stat && stat->name == "popdist-pmix") return pid;
    }
    return -1;
  }
  /// The ports at which a process listens.
  static std::vector<int> portsOf(pid_t pid) {
    std::vector<int> ports;
    const std::string lines = os::outputOf({"ss", "-H", "-l", "-t", "-n", "-p"}, kTimeout).value();
    for (const std::string& line : linesOf(lines)) {
      if (line.find("pid=" + std::to_string(pid) + ",") == std::string::npos) continue;
      const std::size_t address = line.find("127.0.0.1:");
      ports.push_back(std::stoi(line.substr(address + std::string("127.0.0.1:").size())));
    }
    return ports;
  }
  void letItEnd() { input.write_end.reset(); }

  const std::vector<std::string> options_;
  sys::Pipe input = sys::makePipe().value();
  PoprunProcess poprun{[this] {
    PoprunSetup setup{.options = {"-np", "2", "--tag-output", "no"}};
    setup.options.insert(setup.options.end(), options_.begin(), options_.end());
    setup.descriptors[0] = input.read_end.get();
    return setup;
  }()};
  int port = 0;
  std::string directory;
};

TEST_F(ServedOpenMpi, LeavesNoFiles) {
  const auto mode = std::filesystem::status(directory).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_all);
  letItEnd();
  EXPECT_EQ(poprun.wait(kSpinningTimeout), 0) << poprun.err();
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(ServedOpenMpi, RefusesAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  EXPECT_TRUE(asNobody([this] {
    const sys::Fd connection = connectToLoopback(port);
    char byte = 0;
    return connection.valid() && ::recv(connection.get(), &byte, 1, 0) <= 0;
  }));
  letItEnd();
  EXPECT_EQ(poprun.wait(kSpinningTimeout), 0) << poprun.err();
  EXPECT_EQ(
      poprun.err(),
      "poprun: warning: refused a connection to the job's PMIx server from user 65534 (further refusals are "
      "not logged)\n");
}

// libpmix's own, in front of which the relay stands.
TEST_F(ServedOpenMpi, RefusesAnotherUserAtTheOtherPort) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::vector<int> ports = portsOf(server());
  ASSERT_THAT(ports, SizeIs(2));
  EXPECT_THAT(ports, Contains(port));
  for (const int each : ports) {
    EXPECT_TRUE(asNobody([each] {
      const sys::Fd connection = connectToLoopback(each);
      const timeval limit{.tv_sec = 20, .tv_usec = 0};
      ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      char byte = 0;
      return connection.valid() && ::recv(connection.get(), &byte, 1, 0) == 0;
    })) << "port "
        << each;
  }
  letItEnd();
  EXPECT_EQ(poprun.wait(kSpinningTimeout), 0) << poprun.err();
}

// Instance 0 waits in MPI_Init for instance 1, which calls it later.
class HalfServedOpenMpi : public ServedOpenMpi {
 protected:
  HalfServedOpenMpi()
      : ServedOpenMpi({"--stdin", "1", "sh", "-c",
                       "if [ $POPDIST_INSTANCE_INDEX = 1 ]; then read -r _; "
                       "else echo $PMIX_SERVER_URI4 $PMIX_SERVER_TMPDIR; fi; "
                       "exec " OPENMPI_CHILD_PATH " hello"}) {}

  /// `port` gets more connections at once than the server has descriptors.
  static bool flood(int port) {
    std::vector<sys::Fd> connections;
    for (int i = 0; i < 400; ++i) connections.push_back(connectToLoopback(port));
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    return std::all_of(connections.begin(), connections.end(), [&limit](const sys::Fd& each) {
      ::setsockopt(each.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      char byte = 0;
      const ssize_t got = ::recv(each.get(), &byte, 1, 0);
      return got == 0 || (got < 0 && errno == ECONNRESET);
    });
  }
};

TEST_F(HalfServedOpenMpi, IsServedAfterAnotherUserHasUsedUpTheDescriptors) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::vector<int> ports = portsOf(server());
  ASSERT_THAT(ports, SizeIs(2));
  const rlimit few{.rlim_cur = 40, .rlim_max = 40};
  ASSERT_EQ(::prlimit(server(), RLIMIT_NOFILE, &few, nullptr), 0);
  for (const int each : ports) EXPECT_TRUE(asNobody([each] { return flood(each); })) << "port " << each;
  letItEnd();
  EXPECT_EQ(poprun.wait(kSpinningTimeout), 0) << poprun.err();
  EXPECT_THAT(poprun.out(), HasSubstr("rank 1 of 2"));
}

TEST_F(ServedOpenMpi, EndsTheJobWhenItsServerIsKilled) {
  ASSERT_GT(server(), 0);
  ::kill(server(), SIGKILL);
  EXPECT_EQ(poprun.wait(kSpinningTimeout), 125);
  EXPECT_THAT(poprun.err(),
              HasSubstr("popdist-pmix, which serves instances that speak PMIx, was killed by SIGKILL"));
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(ServedOpenMpi, LeavesNothingWhenItsKeeperIsKilled) {
  ::kill(childNamed(poprun.pid(), "pop-keeper"), SIGKILL);
  EXPECT_EQ(poprun.wait(kSpinningTimeout), 125);
  EXPECT_TRUE(poprun.goneWithin(kSpinningTimeout)) << poprun.leftNow();
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(ServedOpenMpi, LeavesNothingWhenPoprunIsKilled) {
  poprun.signal(SIGKILL);
  EXPECT_TRUE(poprun.goneWithin(kSpinningTimeout)) << poprun.leftNow();
  EXPECT_TRUE(waitUntil([this] { return !std::filesystem::exists(directory); }, kSpinningTimeout));
}

}  // namespace
}  // namespace pop::testing
