// SPDX-License-Identifier: Apache-2.0
// popdist-algorithms: a row for each operation, with what was chosen and what it takes. No figure is looked
// at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/operation.h"
#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using popdist::plan::Operation;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

Outcome runAlgorithms(int instances, const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& environment = {}) {
  PoprunSetup setup{
      .options = {"--num-instances", std::to_string(instances), "--tag-output", "no", ALGORITHMS_PATH},
      .environment = environment};
  setup.options.insert(setup.options.end(), arguments.begin(), arguments.end());
  return run(setup);
}

// operation, bytes, memory, chosen, time, and more; the mark in front and the lines around left out.
std::vector<std::vector<std::string>> rowsOf(const std::string& out) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") && !line.starts_with("! ")) continue;
    std::istringstream words(line.substr(2));
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (row.size() >= 5 && row[0] != "operation") rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> namesOfOperations() {
  std::vector<std::string> names;
  for (int number = 0; number <= static_cast<int>(Operation::kSendRecv); ++number)
    names.emplace_back(popdist::plan::nameOf(static_cast<Operation>(number)));
  return names;
}

TEST(PopdistAlgorithms, ShowsARowForEachOperationSizeAndKindOfMemory) {
  const Outcome outcome = runAlgorithms(2, {"--bytes", "8,256k", "--repeats", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, int> rows;
  for (const std::vector<std::string>& row : rowsOf(outcome.out)) {
    ++rows[row[0]];
    const bool is_large = row[1] == "262144";
    if (is_large && row[2] == "private" && row[0] != "reduce")
      EXPECT_THAT(row[3], AnyOf("pull", "staged")) << outcome.out;  // as the system allows, or is the faster
    else if (is_large)
      EXPECT_EQ(row[3], row[2] == "Buffer" ? "direct" : "staged") << outcome.out;
    else
      EXPECT_THAT(row[3], AnyOf("inline", "eager")) << outcome.out;
    EXPECT_GT(std::atof(row[4].c_str()), 0) << outcome.out;
  }
  for (const std::string& name : namesOfOperations())
    EXPECT_EQ(rows[name], name == "barrier" ? 1 : 4) << name << '\n' << outcome.out;
}

TEST(PopdistAlgorithms, ShowsTheAlternatives) {
  const Outcome outcome =
      runAlgorithms(2, {"--bytes", "8k", "--repeats", "1", "--op", "allReduce"},
                    {{"POPDIST_SHARED_ALGORITHM", "eager"}});  // which is not the table's choice
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("of 2 rows"));
  const std::vector<std::vector<std::string>> rows = rowsOf(outcome.out);
  ASSERT_EQ(rows.size(), 2U) << outcome.out;
  EXPECT_EQ(rows[0][3], "staged");
  EXPECT_EQ(rows[1][3], "direct");
  for (const char* other : {"eager ", "messages "}) EXPECT_THAT(outcome.out, HasSubstr(other));
}

TEST(PopdistAlgorithms, KnowsThoseOfMessages) {
  const Outcome outcome =
      runAlgorithms(3, {"--bytes", "8", "--repeats", "1"}, {{"POPDIST_TRANSPORT", "tcp"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 instances by messages"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Buffer")));
  EXPECT_EQ(rowsOf(outcome.out).size(), namesOfOperations().size()) << outcome.out;
  for (const char* name : {"ring", "recursive-doubling", "halving-doubling", "segmented-ring", "tree",
                           "pairwise", "dissemination", "direct"})
    EXPECT_THAT(outcome.out, HasSubstr(name));
}

TEST(PopdistAlgorithms, SaysWhatIsWrongWithItsOptions) {
  EXPECT_THAT(runAlgorithms(1, {"--op", "allSum"}).err, HasSubstr("--op: allSum not in {allReduce,"));
  EXPECT_THAT(runAlgorithms(1, {"--bytes", "0"}).err, HasSubstr("--bytes: "));
  const Outcome help = runAlgorithms(2, {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("POPDIST_SHARED_ALGORITHM"));
}

}  // namespace
}  // namespace pop::testing
