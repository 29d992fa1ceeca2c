// SPDX-License-Identifier: Apache-2.0
// Real processes: their identity is read from /proc. Run by root they become the user nobody, else they stay
// our user.
#include "agent/service/job_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "agent/service/unix_user.h"
#include "common/base/text.h"
#include "tests/testing/file_text.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/tracer.h"
#include "tests/unit/agent/service/test_zombie_reaper.h"

namespace pop::agent {
namespace {

using namespace std::chrono_literals;
using testing::allAreReaped;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::reaperLoop;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using testing::zombies;

constexpr const char* kAgent = POP_BIN_DIR "/popdist-agent";
constexpr int kTimeoutMs = 20000;

const UnixUser& jobUser() {
  static const UnixUser user =
      ::geteuid() == 0 ? lookUpUser("nobody").value() : lookUpUser(::geteuid()).value();
  return user;
}

// Everything up to the stream's end.
std::string readAll(int fd) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (pollfd waiting{fd, POLLIN, 0}; ::poll(&waiting, 1, kTimeoutMs) == 1;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ADD_FAILURE() << "no end after " << text;
  return text;
}

struct Said {
  std::string out;
  std::string err;
};

Said run(const std::vector<std::string>& command, const std::string& user = jobUser().name) {
  Result<JobProcess> process = startJobProcess(user, command, kAgent, zombies());
  EXPECT_TRUE(process.ok()) << process.status().message();
  if (!process.ok()) return {};
  return {readAll(process->stream().get()), readAll(process->errors().get())};
}

// Up to the newline at its end.
std::string lineOf(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string shell(const std::string& script) {
  return run({"/bin/sh", "-c", script}).out;
}

// The numbers after "Uid:" in /proc/self/status.
std::string field(const std::string& status, const std::string& name) {
  for (const std::string& line : split(status, '\n')) {
    if (!line.starts_with(name + ':')) continue;
    std::string rest(trimmed(line.substr(name.size() + 1)));
    std::replace(rest.begin(), rest.end(), '\t', ' ');
    return rest;
  }
  return "no " + name;
}

std::string fourTimes(unsigned id) {
  const std::string text = std::to_string(id);
  return text + ' ' + text + ' ' + text + ' ' + text;
}

// The reply of cat to "hello".
std::string answerOf(JobProcess& process) {
  EXPECT_TRUE(sys::writeAll(process.stream().get(), "hello\n").ok());
  pollfd waiting{process.stream().get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, kTimeoutMs), 1);
  std::array<char, 64> answer{};
  const ssize_t got = ::read(process.stream().get(), answer.data(), answer.size());
  return {answer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

TEST(JobProcess, IsItsUserInEveryRespect) {
  const std::string status = run({"/bin/cat", "/proc/self/status"}).out;
  EXPECT_EQ(field(status, "Uid"), fourTimes(jobUser().uid));
  EXPECT_EQ(field(status, "Gid"), fourTimes(jobUser().gid));
  EXPECT_EQ(field(status, "SigBlk"), "0000000000000000");
  // But for the two that glibc's posix_spawn keeps for itself, 32 and 33.
  EXPECT_EQ(std::stoull(field(status, "SigIgn"), nullptr, 16) & ~0x180000000ULL, 0U);
  if (jobUser().uid != 0) {
    EXPECT_EQ(field(status, "CapEff"), "0000000000000000");
    EXPECT_EQ(field(status, "CapPrm"), "0000000000000000");
  }
}

TEST(JobProcess, HasTheGroupsOfItsUserOnly) {
  std::array<gid_t, 256> groups{};
  int count = static_cast<int>(groups.size());
  ASSERT_GE(::getgrouplist(jobUser().name.c_str(), jobUser().gid, groups.data(), &count), 0);
  std::set<std::string> expected;
  for (int i = 0; i < count; ++i) expected.insert(std::to_string(groups.at(static_cast<std::size_t>(i))));
  std::set<std::string> actual;
  for (const std::string& group : split(lineOf(shell("id -G")), ' ')) actual.insert(group);
  EXPECT_EQ(actual, expected);
}

TEST(JobProcess, IsNotLookedUpWhenItIsKnown) {
  Login login{.user = jobUser(), .groups = {jobUser().gid, 54321}};
  login.user.home = "/usr";
  Result<JobProcess> process =
      startJobProcess(jobUser().name, {"/bin/sh", "-c", "pwd; id -G"}, kAgent, zombies(), login);
  ASSERT_TRUE(process.ok());
  const std::string said = readAll(process->stream().get());
  EXPECT_THAT(said, StartsWith("/usr\n"));
  if (::geteuid() == 0) {
    EXPECT_EQ(lineOf(said), "/usr\n" + std::to_string(jobUser().gid) + " 54321");
  }
}

TEST(JobProcess, HasTheEnvironmentOfALoginAndNothingOfOurs) {
  ::setenv("SECRET_OF_THE_SERVICE", "1", 1);
  ::setenv("LD_LIBRARY_PATH", "/nowhere", 1);
  std::set<std::string> names;
  const std::string environment = run({"/usr/bin/env"}).out;
  ::unsetenv("SECRET_OF_THE_SERVICE");
  ::unsetenv("LD_LIBRARY_PATH");
  for (const std::string& line : split(lineOf(environment), '\n'))
    names.insert(line.substr(0, line.find('=')));
  for (const char* from_us : {"LANG", "LC_ALL", "TZ"}) names.erase(from_us);
  EXPECT_THAT(names, UnorderedElementsAre("HOME", "USER", "LOGNAME", "SHELL", "PATH"));
  EXPECT_THAT(environment, AllOf(HasSubstr("HOME=" + jobUser().home), HasSubstr("USER=" + jobUser().name)));
}

TEST(JobProcess, StartsAtHomeOrSaysWhyNot) {
  const Said said = run({"/bin/sh", "-c", "pwd; umask"});
  const bool has_home = std::filesystem::is_directory(jobUser().home);
  EXPECT_EQ(said.out, (has_home ? jobUser().home : "/") + std::string("\n0022\n"));
  if (!has_home) {
    EXPECT_THAT(said.err, HasSubstr("entering " + jobUser().home + ", the home of " + jobUser().name +
                                    ": No such file"));
  }
}

TEST(JobProcess, InheritsNoDescriptor) {
  const int careless = ::open("/etc/passwd", O_RDONLY);  // not close-on-exec, as libraries leave them
  const int high = ::fcntl(careless, F_DUPFD, 200);
  Result<JobProcess> process = startJobProcess(jobUser().name, {"/bin/cat"}, kAgent, zombies());
  ::close(careless);
  ::close(high);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(answerOf(*process), "hello\n");
  std::set<std::string> names;
  for (const auto& each :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process->pid()) + "/fd")) {
    names.insert(each.path().filename());
  }
  EXPECT_THAT(names, UnorderedElementsAre("0", "1", "2"));
}

TEST(JobProcess, LeadsASessionOfItsOwn) {
  EXPECT_EQ(shell("set -- $(cut -d' ' -f1,5,6 /proc/$$/stat); test $1 = $2 && test $1 = $3 && echo leads"),
            "leads\n");
}

TEST(JobProcess, IsNotSpecialToTheOomKiller) {
  std::ofstream("/proc/self/oom_score_adj") << "100";
  const std::string score = run({"/bin/cat", "/proc/self/oom_score_adj"}).out;
  std::ofstream("/proc/self/oom_score_adj") << "0";
  EXPECT_EQ(score, "0\n");
}

// A key that is only for who has our session's keyring.
bool haveSecretInSession(const char* name) {
  constexpr std::uint32_t kPossessorOnly = 0x3f000000;
  if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0) return false;
  const long key = ::syscall(SYS_add_key, "user", name, "secret", 6, KEY_SPEC_SESSION_KEYRING);
  return key >= 0 && ::syscall(SYS_keyctl, KEYCTL_SETPERM, key, kPossessorOnly) == 0 &&
         testing::fileText("/proc/keys").find(name) != std::string::npos;
}

TEST(JobProcess, HasASessionKeyringOfItsOwn) {
  const char* const name = "popdist-test-secret";
  if (!haveSecretInSession(name)) GTEST_SKIP() << "the kernel keeps no keys for us here";
  const std::string keys = run({"/bin/cat", "/proc/keys"}).out;
  EXPECT_THAT(keys, HasSubstr("_ses"));
  EXPECT_THAT(keys, Not(HasSubstr(name)));
}

TEST(JobProcess, IsSpokenToOverItsStream) {
  Result<JobProcess> process = startJobProcess(jobUser().name, {"/bin/cat"}, kAgent, zombies());
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(answerOf(*process), "hello\n");
  EXPECT_FALSE(process->hasEnded());
}

// The directory's entry of a user may have changed since the users file was read.
TEST(JobProcess, IsNotOfWhoIsRootByAnotherName) {
  const testing::TempDir directory;
  const auto answer = [&](const char* program, const char* line) {
    const std::string script = directory.path() + '/' + program;
    std::ofstream(script) << "#!/bin/sh\necho " << line << '\n';
    std::filesystem::permissions(script, std::filesystem::perms(0755));
  };
  answer("getent", "alice:x:0:0::/:/bin/sh");
  answer("id", "0");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (directory.path() + ':' + path).c_str(), 1);
  const Said said = run({"/usr/bin/id", "-u"}, "alice");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("user 'alice' is root by another name"));
}

TEST(JobProcess, OfAUserWhoIsNotThereSaysSo) {
  EXPECT_EQ(run({"/bin/true"}, "no-such-user").err,
            "popdist-agent become: this host has no user 'no-such-user'\n");
}

TEST(JobProcess, ThatCannotBeExecutedSaysSo) {
  EXPECT_THAT(run({"/nowhere/agent"}).err,
              HasSubstr("executing /nowhere/agent as " + jobUser().name + ": No such file or directory"));
  EXPECT_THAT(startJobProcess("nobody", {"/bin/true"}, "/nowhere/agent", zombies()).status().message(),
              HasSubstr("starting /nowhere/agent: No such file"));
}

TEST(JobProcess, OfSomebodyElseCanBeHadByRootOnly) {
  const testing::TempDir directory;  // in a place that other users can read
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  std::filesystem::copy(kAgent, directory.path() + "/agent");
  EXPECT_THAT(
      run({"/bin/sh", "-c", directory.path() + "/agent become root $$ -- /bin/true; echo $? >&2"}).err,
      AllOf(HasSubstr("only root can run jobs of 'root'"), HasSubstr("\n125\n")));
}

TEST(JobProcess, GoesWithItsObject) {
  pid_t pid = -1;
  {
    Result<JobProcess> process = startJobProcess(jobUser().name, {"/bin/sleep", "600"}, kAgent, zombies());
    ASSERT_TRUE(process.ok());
    pid = process->pid();
    const JobProcess moved = std::move(*process);
    EXPECT_TRUE(testing::statOf(pid).has_value());
  }
  EXPECT_TRUE(allAreReaped());
  EXPECT_FALSE(testing::statOf(pid).has_value());
}

TEST(JobProcess, SaysHowItHasEnded) {
  Result<JobProcess> process =
      startJobProcess(jobUser().name, {"/bin/sh", "-c", "exit 3"}, kAgent, zombies());
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(testing::waitUntil([&] { return process->hasEnded(); }, testing::Milliseconds(kTimeoutMs)));
  EXPECT_EQ(process->end(), "ended with exit code 3");
  EXPECT_EQ(process->end(), "was killed") << "it is no more";
}

// The tracer is shown the end first, and never looks.
TEST(JobProcess, ThatSomebodyTracesIsNotWaitedFor) {
  ASSERT_TRUE(allAreReaped());  // those of the tests before
  Result<JobProcess> process = startJobProcess(jobUser().name, {"/bin/sleep", "600"}, kAgent, zombies());
  ASSERT_TRUE(process.ok());
  const pid_t pid = process->pid();
  testing::Tracer tracer(pid);
  if (!tracer.holds()) GTEST_SKIP() << "nobody may be traced here";
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(testing::waitUntil([&] { return process->hasEnded(); }, testing::Milliseconds(kTimeoutMs)));
  EXPECT_EQ(process->end(), "ended while it was being traced");
  EXPECT_EQ(zombies().count(), 1);
  reaperLoop().advance(1min);
  EXPECT_EQ(zombies().count(), 1);
  tracer.letGo();
  EXPECT_TRUE(allAreReaped());
  EXPECT_FALSE(testing::statOf(pid).has_value());
  EXPECT_EQ(reaperLoop().armedTimers(), 0U);
}

TEST(JobProcess, ThatIsTracedIsKilledWithoutWaiting) {
  Result<JobProcess> process = startJobProcess(jobUser().name, {"/bin/sleep", "600"}, kAgent, zombies());
  ASSERT_TRUE(process.ok());
  testing::Tracer tracer(process->pid());
  if (!tracer.holds()) GTEST_SKIP() << "nobody may be traced here";
  process->kill();
  tracer.letGo();
  EXPECT_TRUE(allAreReaped());
}

// A service that is killed by SIGKILL, which closes nothing by itself that the program would look at.
TEST(JobProcess, DiesWithTheService) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t service = ::fork();
  if (service == 0) {
    Result<JobProcess> process = startJobProcess(jobUser().name, {"/bin/sleep", "600"}, kAgent, zombies());
    const pid_t pid = process.ok() ? process->pid() : -1;
    // Not before it is what it will be.
    testing::waitUntil([&] { return testing::statOf(pid)->name == "sleep"; },
                       testing::Milliseconds(kTimeoutMs));
    static_cast<void>(!::write(ends[1], &pid, sizeof pid));
    ::pause();
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_TRUE(testing::statOf(pid).has_value());
  ::kill(service, SIGKILL);
  ::waitpid(service, nullptr, 0);
  const auto gone = [pid] {
    const auto stat = testing::statOf(pid);
    return !stat || stat->state == 'Z';
  };
  EXPECT_TRUE(testing::waitUntil(gone, testing::Milliseconds(kTimeoutMs)));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace pop::agent
