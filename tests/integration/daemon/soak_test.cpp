// SPDX-License-Identifier: Apache-2.0
// Kills popdistd, its hosts' connections, runners, keepers and agent services at random while jobs run, one
// of them or two at once, and looks whether anything is lost, doubled or left. POP_DAEMON_SOAK_SECONDS says
// for how long, POP_DAEMON_SOAK_SEED how.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <set>

#include "tests/integration/daemon/daemon_fixture.h"

namespace pop::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kJobsAtOnce = 3;
constexpr int kLines = 60;
constexpr int kExitCode = 5;
constexpr const char* kNames[] = {"relay", "runner", "keeper", "service", "popdistd"};

int numberIn(const char* variable, int if_missing) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? if_missing : std::atoi(text);
}

std::string lines() {
  std::string text;
  for (int i = 1; i <= kLines; ++i) text += std::to_string(i) + '\n';
  return text;
}

class DaemonSoak : public DaemonTest {
 protected:
  struct Running {
    std::int64_t id = 0;
    bool is_harmed = false;  ///< one of its processes was killed: it fails, with its output until then
    std::future<Log> log;    ///< as a client sees it that watches all the time
  };

  void submitOne() {
    const std::int64_t id =
        submit(shell("for i in $(seq " + std::to_string(kLines) + "); do echo $i; sleep 0.02; done; exit " +
                     std::to_string(kExitCode)));
    running_.push_back(
        {.id = id, .log = std::async(std::launch::async, [this, id] { return wholeLog(id); })});
    ++submitted_;
  }

  void harmAll() {
    for (Running& each : running_) each.is_harmed = true;
  }

  // In the order in which two of them are killed.
  enum Victim { kRelay, kRunner, kKeeper, kService, kDaemon, kVictims };

  void killSome() {
    std::set<Victim> victims;
    for (unsigned i = 0; i <= random_() % 2; ++i) victims.insert(static_cast<Victim>(random_() % kVictims));
    ++kills_[victims];
    for (const Victim victim : victims) killOne(victim);
    if (victims.contains(kDaemon)) startDaemon();
    if (victims.contains(kService)) startHost("h0", 8);
  }

  void killOne(Victim victim) {
    switch (victim) {
      case kRelay:
        return killChild("h0", "popdist-join");
      case kService:
        harmAll();
        return kill("h0", SIGKILL);
      case kDaemon:
        return kill("popdistd", SIGKILL);
      default:
        return killPartOfJob(victim);
    }
  }

  void killPartOfJob(Victim part) {
    Running& victim = running_[random_() % running_.size()];
    const pid_t runner = runnerOf(victim.id);
    const pid_t pid = part == kRunner || runner <= 1 ? runner : childNamed(runner, "pop-keeper");
    if (pid <= 1) return;
    victim.is_harmed = true;
    ::kill(pid, SIGKILL);
  }

  /// A job whose log has ended.
  void check(Running& done) {
    const Log log = done.log.get();
    const v1::JobInfo ended = waitForEnd(done.id);
    EXPECT_TRUE(std::is_sorted(log.sequences.begin(), log.sequences.end(), std::less_equal<>()))
        << "job " << done.id << ": a record came twice";
    if (done.is_harmed && ended.end() == v1::END_FAILED && ended.outcome().exit_code() != kExitCode) {
      EXPECT_TRUE(lines().starts_with(log.text)) << "job " << done.id << ": " << log.text;
      EXPECT_NE(ended.reason(), "");
      return;
    }
    EXPECT_EQ(log.text, lines()) << "job " << done.id << ' ' << ended.ShortDebugString();
    EXPECT_EQ(ended.outcome().exit_code(), kExitCode) << ended.ShortDebugString();
    ++whole_;
  }

  void checkEnded() {
    const auto done = std::partition(running_.begin(), running_.end(), [](const Running& each) {
      return each.log.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    });
    for (auto each = done; each != running_.end(); ++each) check(*each);
    running_.erase(done, running_.end());
  }

  /// From outside, with another program's eyes.
  bool storeIsSound() {
    const std::string script =
        "import sqlite3; c = sqlite3.connect(\"" + path("state/store.db") +
        "\"); q = lambda s: c.execute(s).fetchall();"
        "assert q(\"PRAGMA integrity_check\") == [(\"ok\",)], q(\"PRAGMA integrity_check\");"
        "assert q(\"PRAGMA foreign_key_check\") == [];"
        "assert q(\"SELECT job FROM bindings GROUP BY job HAVING count(*) > 1\") == [];"
        "assert q(\"SELECT count(*) FROM jobs WHERE state != 5\") == [(0,)];"
        "assert q(\"SELECT job FROM job_events GROUP BY job HAVING count(*) != count(DISTINCT sequence)\") "
        "== []";
    return std::system(("python3 -c '" + script + "'").c_str()) == 0;
  }

  std::mt19937 random_;
  std::map<std::set<Victim>, int> kills_;
  std::vector<Running> running_;
  int submitted_ = 0;
  int whole_ = 0;
};

TEST_F(DaemonSoak, LosesNothingAndLeavesNothing) {
  const int seed = numberIn("POP_DAEMON_SOAK_SEED", static_cast<int>(std::random_device()() & 0xffff));
  SCOPED_TRACE("POP_DAEMON_SOAK_SEED=" + std::to_string(seed));
  random_.seed(static_cast<unsigned>(seed));
  startDaemon();
  startHost("h0", 8);
  const auto end = Clock::now() + std::chrono::seconds(numberIn("POP_DAEMON_SOAK_SECONDS", 10));
  while (Clock::now() < end && !HasFailure()) {
    while (running_.size() < kJobsAtOnce) submitOne();
    running_.front().log.wait_for(Milliseconds(random_() % 400));  // the next kill comes at any moment
    killSome();
    checkEnded();
  }
  while (!running_.empty() && !HasFailure()) {
    running_.front().log.wait();
    checkEnded();
  }
  for (const auto& [victims, count] : kills_) {
    for (const Victim victim : victims) std::printf("%s ", kNames[victim]);
    std::printf("killed %d times\n", count);
  }
  std::printf("%d jobs, of which %d whole\n", submitted_, whole_);
  for (std::int64_t id = 1; id <= submitted_; ++id)
    EXPECT_TRUE(waitUntil([&] { return runnerOf(id) == 0; }, kTimeout)) << "job " << id << " is left";
  EXPECT_TRUE(storeIsSound());
}

}  // namespace
}  // namespace pop::testing
