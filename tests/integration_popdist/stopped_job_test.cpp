// SPDX-License-Identifier: Apache-2.0
// Ctrl-Z for longer than calls may wait: when the job goes on, so do they.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

constexpr Milliseconds kTimeout{6'000};

struct Waiting {
  const char* call;
  const char* transport;
};

void PrintTo(const Waiting& waiting, std::ostream* out) {
  *out << waiting.call << " over " << waiting.transport;
}

class StoppedJob : public ::testing::TestWithParam<Waiting> {};

TEST_P(StoppedJob, MissesNoDeadline) {
  PoprunSetup setup = childSetup(2, {"wait-in", GetParam().call, std::to_string(kTimeout.count())});
  setup.environment["POPDIST_TRANSPORT"] = GetParam().transport;
  PoprunProcess poprun(setup);
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U) << poprun.err();
  const auto stopped = [&] { return statOf(poprun.pid()).value_or(ProcessStat{}).state == 'T'; };
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(poprun.waitFor(stopped));
  EXPECT_FALSE(poprun.waitFor([&] { return poprun.ended(); }, kTimeout + Milliseconds(1'500)));
  poprun.signal(SIGCONT);
  ASSERT_TRUE(poprun.waitFor([&] { return !stopped(); }));
  ::kill(instances[1], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 0) << poprun.err();
}

INSTANTIATE_TEST_SUITE_P(Calls, StoppedJob,
                         ::testing::Values(Waiting{"sum", "auto"}, Waiting{"sum", "tcp"},
                                           Waiting{"fence", "auto"}, Waiting{"put-fence", "auto"},
                                           Waiting{"async", "auto"}, Waiting{"async", "tcp"},
                                           Waiting{"outfeed", "auto"}));

}  // namespace
}  // namespace pop::testing
