// SPDX-License-Identifier: Apache-2.0
// That instances really are where placement says: the kernel is asked in each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "common/model/cpu_set.h"
#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::vector<int> allowedCpus() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

// As `taskset -c`: what is started meanwhile may use this CPU only.
class OnOneCpu {
 public:
  explicit OnOneCpu(int cpu) {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_{};
};

// "name=value" of one instance's report.
std::string reported(const Outcome& outcome, int instance, const std::string& name) {
  const std::string prefix = '[' + std::to_string(instance) + "] " + name + '=';
  for (const std::string& line : linesOf(outcome.out)) {
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  }
  ADD_FAILURE() << "no " << prefix << " in:\n" << outcome.out << outcome.err;
  return {};
}

Outcome runPlaced(std::vector<std::string> options, std::map<std::string, std::string> environment = {}) {
  options.insert(options.end(), {"--num-instances", "2", "--tag-output", "yes"});
  Outcome outcome = run({.options = options, .child = {"report"}, .environment = std::move(environment)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome;
}

bool mayBindMemory() {
  return ::syscall(SYS_set_mempolicy, -1, nullptr, 0UL) < 0 && errno == EINVAL;
}

TEST(Placement, ByListsBindsCpusAndMemory) {
  const std::vector<int> cpus = allowedCpus();
  const std::string first = std::to_string(cpus.front());
  const std::string last = std::to_string(cpus.back());
  const Outcome outcome = runPlaced({"--process-placement", first + ':' + last});
  EXPECT_EQ(reported(outcome, 0, "cpus"), first);
  EXPECT_EQ(reported(outcome, 1, "cpus"), last);
  const std::string policies = mayBindMemory() ? "bind:[0-9]+" : "default";
  EXPECT_THAT(reported(outcome, 0, "memory_policies"), MatchesRegex(policies));
  EXPECT_THAT(reported(outcome, 1, "memory_policies"), MatchesRegex(policies));
  EXPECT_EQ(reported(outcome, 0, "omp_num_threads"), "1");
}

TEST(Placement, ByCoresGivesAsManyAsAreAskedFor) {
  for (const char* mode : {"spreadcores", "compact"}) {
    const Outcome outcome =
        runPlaced({"--process-placement", mode, "--cores-per-instance", "1", "--report-bindings", "yes"});
    EXPECT_THAT(outcome.err, HasSubstr("instance 1 on localhost: cpu"));
    EXPECT_THAT(outcome.err, HasSubstr(std::string("(1 of ")));
    EXPECT_THAT(outcome.err, HasSubstr(std::string("--process-placement ") + mode));
  }
}

TEST(Placement, ThatIsDisabledBindsNothing) {
  const Outcome outcome = runPlaced({"--process-placement", "disabled"});
  EXPECT_EQ(model::CpuSet::parse(reported(outcome, 0, "cpus")).value(), model::CpuSet(allowedCpus()));
  EXPECT_EQ(reported(outcome, 1, "memory_policies"), "default");
}

TEST(Placement, StaysWithinWhatPoprunMayUse) {
  const int cpu = allowedCpus().back();
  const OnOneCpu taskset(cpu);
  for (const char* mode : {"spreadnuma", "spreadcores", "compact", "disabled"}) {
    const Outcome outcome = runPlaced({"--process-placement", mode});
    EXPECT_EQ(reported(outcome, 0, "cpus"), std::to_string(cpu)) << mode;
    EXPECT_EQ(reported(outcome, 1, "cpus"), std::to_string(cpu)) << mode;
    EXPECT_EQ(reported(outcome, 1, "omp_num_threads"), "1") << mode;
  }
}

TEST(Placement, OnACpuThatMayNotBeUsedFailsTheJob) {
  const int cpu = allowedCpus().back();
  const OnOneCpu taskset(cpu);
  const Outcome outcome = run({.options = {"--process-placement", "4095"}, .child = {"exit", "0"}});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--process-placement"), HasSubstr("CPU 4095"),
                                 HasSubstr("may use " + std::to_string(cpu)), HasSubstr("localhost")));
}

TEST(OmpNumThreads, IsTheUsersWhereTheUserHasSetIt) {
  EXPECT_EQ(reported(runPlaced({}, {{"OMP_NUM_THREADS", "77"}}), 0, "omp_num_threads"), "77");
}

TEST(ReportBindings, ComesBeforeAllOutput) {
  const std::string cpu = std::to_string(allowedCpus().front());
  const Outcome outcome =
      run({.options = {"--process-placement", cpu, "--report-bindings", "yes", "--num-instances", "2"},
           .child = {"lines", "1", "20"},
           .one_pipe = true});
  const std::vector<std::string> lines = linesOf(outcome.out);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_THAT(lines[0], StartsWith("poprun: instance 0 on localhost: cpu " + cpu));
  EXPECT_THAT(lines[1], StartsWith("poprun: instance 1 on localhost: cpu " + cpu));
}

TEST(Placement, SaysNothingUnlessAsked) {
  const Outcome outcome = runPlaced({"--process-placement", "disabled"});
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace pop::testing
