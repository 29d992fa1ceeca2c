// SPDX-License-Identifier: Apache-2.0
// The contract between processes that the real poprun starts: right results, in every way.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/contract/ways.h"
#include "tests/testing/poprun_process.h"

namespace popdist::contract {
namespace {

class ContractOfProcesses : public ::testing::TestWithParam<std::tuple<Way, int>> {};

TEST_P(ContractOfProcesses, HoldsForAnySequenceOfCalls) {
  const auto& [way, ranks] = GetParam();
  const pop::testing::Outcome outcome = pop::testing::run(
      {.options = {"--num-instances", std::to_string(ranks), CONTRACT_CHILD_PATH, "sequence", "100"},
       .environment = way.environment});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

std::vector<Way> waysOfAllCases() {
  std::vector<Way> ways = allWays();
  std::erase_if(ways, [](const Way& way) { return !way.in_rank_order; });
  return ways;
}

std::string nameOfTest(const ::testing::TestParamInfo<ContractOfProcesses::ParamType>& tested) {
  return std::get<0>(tested.param).name + std::to_string(std::get<1>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(Ways, ContractOfProcesses,
                         ::testing::Combine(::testing::ValuesIn(waysOfAllCases()),
                                            ::testing::Values(1, 2, 3, 4, 8)),
                         nameOfTest);

}  // namespace
}  // namespace popdist::contract
