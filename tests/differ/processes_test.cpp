// SPDX-License-Identifier: Apache-2.0
// The same with processes: poprun's, which share memory, and some that were started by hand, with TCP between
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/differ/circles.h"
#include "tests/differ/heard.h"
#include "tests/differ/row.h"
#include "tests/integration_popdist/cluster/hand_started.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace popdist::testing {
namespace {

using pop::testing::HandStarted;
using ::testing::HasSubstr;

struct Run {
  std::size_t row = 0;
  int odd = 1;
  int before = 0;
  bool over_hosts = false;
};

std::vector<std::string> commandOf(const Run& run, const Row& row, const std::string& directory) {
  return {DIFFER_INSTANCE_PATH,
          std::to_string(run.row),
          std::to_string(run.odd),
          std::to_string(run.before),
          std::to_string(deadlineOf(row).count()),
          directory};
}

std::string byPoprun(const std::vector<std::string>& command, int instances) {
  pop::testing::PoprunSetup setup{.options = {"-np", std::to_string(instances)}};
  setup.options.insert(setup.options.end(), command.begin(), command.end());
  pop::testing::PoprunProcess poprun(setup);
  const int exit_code = poprun.wait();
  return exit_code == 0 ? "" : "poprun ended with " + std::to_string(exit_code) + ": " + poprun.err();
}

std::string byHand(const std::vector<std::string>& command) {
  const std::vector<std::string> workers = pop::testing::freeAddresses(kInstances);
  std::vector<HandStarted> all;
  for (int own = 0; own < kInstances; ++own)
    all.push_back(HandStarted::command(command, {{"TF_CONFIG", pop::testing::tfConfigOf(workers, own)}}));
  std::string failed;
  for (HandStarted& each : all)
    if (each.wait() != 0) failed += each.out();
  return failed;
}

/// The error of each instance, "" for none.
std::vector<std::string> heardIn(const std::string& directory, int instances) {
  std::vector<std::string> heard;
  for (int instance = 0; instance < instances; ++instance) {
    std::ifstream file(directory + '/' + std::to_string(instance));
    long took_ms = -1;
    file >> took_ms;
    file.ignore();
    EXPECT_GE(took_ms, 0) << "instance " << instance << " has said nothing";
    EXPECT_LT(took_ms, std::chrono::milliseconds(kAtOnce).count());
    heard.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return heard;
}

void expect(const Run& run, const Row& row) {
  const pop::testing::TempDir directory;
  const std::vector<std::string> command = commandOf(run, row, directory.path());
  EXPECT_EQ(run.over_hosts ? byHand(command) : byPoprun(command, kInstances), "");
  expectHeard(row, run.over_hosts, heardIn(directory.path(), kInstances));
}

/// Every row; each instance is the one that differs, in the first call and in a later one.
void expectAll(bool over_hosts) {
  const Rows rows = allRows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Run run{.row = i,
                  .odd = static_cast<int>(i % 2),
                  .before = (i / 2) % 2 == 0 ? 0 : kEqualCalls,
                  .over_hosts = over_hosts};
    SCOPED_TRACE(nameOf(rows[i]) + " on instance " + std::to_string(run.odd) + " after " +
                 std::to_string(run.before));
    expect(run, rows[i]);
  }
}

TEST(ProcessesThatDiffer, HearOfItAtOnceOnOneHost) {
  expectAll(false);
}

TEST(ProcessesThatDiffer, HearOfItAtOnceOverTcp) {
  expectAll(true);
}

/// The errors of the instances that wait in a circle.
std::vector<std::string> heardInCircle(const std::string& circle, int instances, int before) {
  const pop::testing::TempDir directory;
  const std::string seconds = std::to_string(kDeadline.count());
  EXPECT_EQ(byPoprun({DIFFER_INSTANCE_PATH, circle, "0", std::to_string(before), seconds, directory.path()},
                     instances),
            "");
  return heardIn(directory.path(), instances);
}

TEST(ProcessesThatDiffer, HearThatTheyWaitInACircle) {
  for (const int instances : {3, 4}) {
    for (const int before : {0, kEqualCalls}) {
      SCOPED_TRACE(std::to_string(instances) + " after " + std::to_string(before));
      const std::vector<std::string> heard = heardInCircle("circle", instances, before);
      for (const std::string& text : heard)
        for (const std::string& call : callsInCircle(instances)) EXPECT_THAT(text, HasSubstr(call));
    }
  }
}

TEST(ProcessesThatDiffer, HearThatTheyWaitInACircleWithAFence) {
  for (const int instances : {3, 4}) {
    const std::vector<std::string> heard = heardInCircle("circle-with-fence", instances, 0);
    for (const std::string& text : heard) EXPECT_THAT(text, HasSubstr("fence")) << instances;
  }
}

}  // namespace
}  // namespace popdist::testing
