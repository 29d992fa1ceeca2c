// SPDX-License-Identifier: Apache-2.0
// The same with processes: poprun's, which share memory, and some that were started by hand, with TCP between
// them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/differ/heard.h"
#include "tests/differ/row.h"
#include "tests/integration_popdist/cluster/hand_started.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace popdist::testing {
namespace {

using pop::testing::HandStarted;

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

std::string byPoprun(const std::vector<std::string>& command) {
  pop::testing::PoprunSetup setup{.options = {"-np", "2"}};
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

void expect(const Run& run, const Row& row) {
  const pop::testing::TempDir directory;
  const std::vector<std::string> command = commandOf(run, row, directory.path());
  EXPECT_EQ(run.over_hosts ? byHand(command) : byPoprun(command), "");
  std::vector<std::string> heard;
  for (int instance = 0; instance < kInstances; ++instance) {
    std::ifstream file(directory.path() + '/' + std::to_string(instance));
    long took_ms = -1;
    file >> took_ms;
    file.ignore();
    ASSERT_GE(took_ms, 0) << "instance " << instance << " has said nothing";
    EXPECT_LT(took_ms, std::chrono::milliseconds(kAtOnce).count());
    heard.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  expectHeard(row, run.over_hosts, heard);
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

}  // namespace
}  // namespace popdist::testing
