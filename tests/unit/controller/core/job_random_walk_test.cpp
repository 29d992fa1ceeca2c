// SPDX-License-Identifier: Apache-2.0
// Thousands of short job lives: instances start, fail, abort and end in any order that their agents could
// report, the user loses timeout at any time, and a few rules hold in all of them. A failure names its seed.
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "common/base/random.h"
#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_(seed), job_(shapeOf(random_)) {}

  void run() {
    job_.job().start();
    if (upTo(20) == 0) userStops();
    while (!job_.done()) {
      if (upTo(40) == 0) userStops();
      step(static_cast<int>(random_.below(static_cast<std::uint64_t>(job_.instances()))));
      check();
      if (::testing::Test::HasFailure()) return;
    }
    checkEnd();
  }

 private:
  enum class Life { kStarting, kRunning, kEnded, kClosed };

  static model::JobSpec shapeOf(SplitMix64& random) {
    const int hosts = static_cast<int>(1 + random.below(3));
    return JobFixture::specFor(hosts, hosts * static_cast<int>(1 + random.below(3)));
  }
  std::uint64_t upTo(std::uint64_t most) { return random_.below(most + 1); }

  void userStops() {
    if (stops_++ == 0) {
      user_signal_ = upTo(1) == 0 ? SIGINT : SIGTERM;
      job_.job().stop(user_signal_);
    } else {
      job_.job().stop(SIGINT);
    }
  }

  // The next thing that `instance` does, if anything.
  void step(int instance) {
    Life& life = life_[instance];
    switch (life) {
      case Life::kStarting:
        start(instance, life);
        break;
      case Life::kRunning:
        end(instance, life);
        break;
      case Life::kEnded:
        life = Life::kClosed;
        ++closed_;
        job_.closed(instance);
        break;
      case Life::kClosed:
        break;
    }
  }

  void start(int instance, Life& life) {
    if (upTo(9) > 0) {
      life = Life::kRunning;
      job_.started(instance);
      return;
    }
    const int code = 125 + static_cast<int>(upTo(2));
    life = Life::kEnded;
    ++ended_;
    expectFailure(code);
    job_.cannotStart(instance, code, "no such program");
  }

  void end(int instance, Life& life) {
    if (upTo(9) == 0) {  // asks to end the job, and goes on
      const int code = 1 + static_cast<int>(upTo(99));
      expectFailure(code);
      job_.aborted(instance, code, "enough");
      return;
    }
    contract::ExitStatus status;
    if (upTo(3) == 0) status.code = 1 + static_cast<int>(upTo(99));
    if (upTo(5) == 0) status = {.signal = SIGKILL};
    life = Life::kEnded;
    ++ended_;
    if (!status.success()) expectFailure(contract::shellExitCode(status));
    job_.ended(instance, status);
  }

  // Called before the report: the first call decides, unless the user was quicker.
  void expectFailure(int code) {
    if (user_signal_ == 0 && first_failure_ == 0) first_failure_ = code;
  }

  void check() {
    EXPECT_EQ(job_.done(), closed_ == job_.instances()) << "done when all have closed, and not before";
    const bool decided = first_failure_ != 0 || user_signal_ != 0;
    const int orders = (first_failure_ != 0 ? 1 : 0) + stops_;
    job_.loop().advance(std::chrono::milliseconds(100));  // end notices may wait so long
    for (int host = 0; host < job_.hosts(); ++host) {
      EXPECT_EQ(job_.agent(host).runs, 1);
      if (anyOpenOn(host)) {
        EXPECT_EQ(job_.agent(host).announced.size(), static_cast<std::size_t>(ended_));
      }
      if (job_.done()) continue;
      EXPECT_EQ(job_.agent(host).stops, decided ? 1 : 0);
      EXPECT_EQ(job_.agent(host).kills, orders > 1 ? 1 : 0) << "only for the user's second order";
    }
  }

  bool anyOpenOn(int host) {
    const int per_host = job_.instances() / job_.hosts();
    for (int local = 0; local < per_host; ++local) {
      if (life_[host * per_host + local] != Life::kClosed) return true;
    }
    return false;
  }

  void checkEnd() {
    EXPECT_EQ(job_.reports(), 1);
    EXPECT_EQ(job_.job().state(), JobState::kDone);
    EXPECT_EQ(job_.outcome().user_signal, user_signal_);
    EXPECT_EQ(job_.outcome().exit_code, user_signal_ != 0 ? 128 + user_signal_ : first_failure_);
    job_.job().stop(SIGINT);
    EXPECT_EQ(job_.reports(), 1);
  }

  SplitMix64 random_;
  JobFixture job_;
  std::map<int, Life> life_;
  int ended_ = 0;
  int closed_ = 0;
  int stops_ = 0;
  int user_signal_ = 0;
  int first_failure_ = 0;
};

TEST(JobRandomWalk, KeepsItsRulesInEveryLife) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk(seed).run();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace pop
