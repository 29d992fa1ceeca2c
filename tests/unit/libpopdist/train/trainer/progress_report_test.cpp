// SPDX-License-Identifier: Apache-2.0
// The printed progress of a training, with a clock that the test sets.
#include "popdist/progress_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using namespace std::chrono_literals;
using popdist::testing::errorCodeOf;

class ProgressReportTest : public ::testing::Test {
 protected:
  ProgressReportOptions options(bool terminal) {
    return {.updates = 5000,
            .samples_per_update = 100,
            .terminal = terminal,
            .write = [this](std::string_view text) { said += text; },
            .now = [this] { return now; }};
  }
  static Progress progress(std::uint64_t updates, double loss) {
    return {.updates = updates,
            .micro_batches = 2 * updates,
            .names = {"loss"},
            .sums = {loss * 2 * static_cast<double>(updates)}};
  }

  Context& context = Context::fromEnvironment();
  std::chrono::steady_clock::time_point now{};
  std::string said;
};

TEST_F(ProgressReportTest, RewritesTheLineOfATerminal) {
  {
    ProgressReport report(context, options(true));
    now += 4s;
    report.add(progress(500, 0.25));
    now += 50ms;
    report.add(progress(1, 9));
    EXPECT_EQ(said, "\rupdate 500/5000  loss 0.25  12500 samples/s  36 s left");
    said.clear();
    now += 16s - 50ms;
    report.add(progress(3499, 0.5));
    EXPECT_EQ(said, "\rupdate 4000/5000  loss 0.502  21875 samples/s  5 s left");
    said.clear();
    now += 1s;
    report.add(progress(1000, 0.5));
    EXPECT_EQ(said, "\rupdate 5000/5000  loss 0.5  100000 samples/s  0 s left ") << "a blank over the rest";
  }
  EXPECT_EQ(said.back(), '\n');
}

TEST_F(ProgressReportTest, SaysNothingThatIsNotSo) {
  ProgressReportOptions of_ten = options(true);
  of_ten.updates = 10;
  ProgressReport report(context, of_ten);
  now += 1s;
  report.add({.updates = 5, .names = {"loss"}, .sums = {0}});
  EXPECT_EQ(said, "\rupdate 5/10  500 samples/s  1 s left") << "no micro-batch, no mean";
  said.clear();
  now += 1s;
  report.add(progress(1000, -std::nan("")));
  EXPECT_EQ(said, "\rupdate 1005  loss nan  100000 samples/s");
}

TEST_F(ProgressReportTest, WritesLinesOfJsonToALog) {
  {
    ProgressReport report(context, options(false));
    now += 4s;
    report.add(progress(500, 0.25));
    now += 500ms;
    report.add(progress(500, 0.5));
  }
  EXPECT_EQ(said, R"({"update":500,"updates":5000,"seconds":4,"samples_per_second":12500,"seconds_left":36,)"
                  R"("metrics":{"loss":0.25}})"
                  "\n"
                  R"({"update":1000,"updates":5000,"seconds":4.5,"samples_per_second":1e+05,)"
                  R"("seconds_left":18,"metrics":{"loss":0.5}})"
                  "\n");
}

TEST_F(ProgressReportTest, CountsFromWhereATrainingGoesOn) {
  ProgressReportOptions options = this->options(true);
  options.done = 4000;
  ProgressReport report(context, options);
  now += 1s;
  report.add(progress(500, 1));
  EXPECT_EQ(said, "\rupdate 4500/5000  loss 1  50000 samples/s  1 s left");
}

TEST_F(ProgressReportTest, EndMayBeUnknown) {
  ProgressReportOptions options = this->options(true);
  options.updates = 0;
  ProgressReport report(context, options);
  now += 1s;
  report.add(progress(5, 1));
  EXPECT_EQ(said, "\rupdate 5  loss 1  500 samples/s");
}

TEST_F(ProgressReportTest, RefusesWhatMakesNoSense) {
  ProgressReportOptions options = this->options(true);
  options.samples_per_update = 0;
  EXPECT_EQ(errorCodeOf([&] { ProgressReport report(context, options); }), ErrorCode::kInvalidArgument);
  options.samples_per_update = 1;
  options.done = 5001;
  EXPECT_EQ(errorCodeOf([&] { ProgressReport report(context, options); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
