// SPDX-License-Identifier: Apache-2.0
// The contract between processes on two real hosts, natively and on every backend.
#include <gtest/gtest.h>

#include "tests/contract/ways.h"
#include "tests/integration/hosts/hosts_fixture.h"

namespace popdist::contract {
namespace {

class ContractOverHosts : public pop::testing::HostsTest, public ::testing::WithParamInterface<Way> {
 protected:
  ContractOverHosts() : HostsTest(2) {}

  pop::testing::Outcome runOn(int instances, const std::vector<std::string>& command) const {
    std::vector<std::string> options{"-n", std::to_string(instances)};
    for (const auto& [name, value] : GetParam().environment)
      options.insert(options.end(), {"-x", name + '=' + value});
    options.emplace_back(CONTRACT_CHILD_PATH);
    options.insert(options.end(), command.begin(), command.end());
    return pop::testing::run(job(options), kLimit);
  }

 private:
  static constexpr pop::testing::Milliseconds kLimit{240'000};
};

TEST_P(ContractOverHosts, HoldsWholly) {
  const pop::testing::Outcome outcome = runOn(4, {"whole", "any"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(leftOnHosts(), "");
  std::printf("%s", outcome.out.c_str());
}

TEST_P(ContractOverHosts, TellsOfCallsThatDoNotMatch) {
  const auto compared = static_cast<int>(GetParam().compared);
  const pop::testing::Outcome outcome = runOn(4, {"mismatches", std::to_string(compared)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

std::vector<Way> waysOverHosts() {
  std::vector<Way> ways = waysOfProcesses();
  std::erase_if(ways, [](const Way& way) { return !way.environment.contains("POPDIST_BACKEND"); });
  for (Way& way : ways) way.environment.erase("UCX_NET_DEVICES");
  ways.push_back(
      {.name = "native", .environment = {}, .in_rank_order = false, .compared = Compared::kFrames});
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Ways, ContractOverHosts, ::testing::ValuesIn(waysOverHosts()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace popdist::contract
