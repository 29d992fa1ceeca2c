// SPDX-License-Identifier: Apache-2.0
// Command lines of mpirun and Hydra over several hosts: who runs where, and what each finds in its
// environment.
#include <algorithm>
#include <fstream>

#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

class LaunchersOnHosts : public HostsTest {};

TEST_F(LaunchersOnHosts, ForwardsWhatAPatternNames) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"-x", "NCCL_*"},
                                                  {"-genvlist", "NCCL_DEBUG,NCCL_I*"},
                                                  {"-envlist", "NCCL_DEBUG,NCCL_IB"}}) {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"-n", "3", "--tag-output", "no", "sh", "-c",
                               "echo $NCCL_DEBUG $NCCL_IB $OTHER $OMPI_MCA_btl $RANK"});
    PoprunSetup setup = job(words);
    setup.environment = {{"NCCL_DEBUG", "INFO"}, {"NCCL_IB", "1"}, {"OTHER", "x"}, {"OMPI_MCA_btl", "self"}};
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(linesOf(outcome.out),
                UnorderedElementsAre("INFO 1 self 0", "INFO 1 self 1", "INFO 1 self 2"));
  }
}

// The counts of each host, in whichever launcher's words.
TEST_F(LaunchersOnHosts, FillsHostsAsMpirunDoes) {
  TempDir directory;
  const std::string file = directory.path() + "/hosts";
  std::ofstream(file) << "h0 slots=2\nh1:1\nh2 slots=4\n";
  const auto places = [&](const std::string& name, const std::vector<std::string>& words) {
    PoprunSetup setup = job({});
    setup.program = POP_BIN_DIR "/names/" + name;
    setup.options.resize(4);  // without --host
    setup.options.insert(setup.options.end(), words.begin(), words.end());
    setup.options.insert(setup.options.end(), {"sh", "-c", "echo $POPDIST_INSTANCE_INDEX $(uname -n)"});
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(said(outcome.err), "");
    return sorted(linesOf(outcome.out));
  };
  EXPECT_THAT(places("mpirun", {"-n", "5", "--hostfile", file}),
              ElementsAre("0 h0", "1 h0", "2 h1", "3 h2", "4 h2"));
  EXPECT_THAT(places("mpiexec.hydra", {"-ppn", "2", "-n", "5", "-f", file}),
              ElementsAre("0 h0", "1 h0", "2 h1", "3 h1", "4 h2"));
  EXPECT_THAT(places("mpiexec.hydra", {"-n", "4", "-hosts", names()}),
              ElementsAre("0 h0", "1 h0", "2 h1", "3 h2"));
  EXPECT_THAT(places("mpirun", {"--host", "h0:2,h2"}), ElementsAre("0 h0", "1 h0", "2 h2"));
  EXPECT_THAT(places("mpirun", {"-n", "4", "--map-by", "node", "--hostfile", file}),
              ElementsAre("0 h0", "1 h0", "2 h1", "3 h2"));
}

TEST_F(LaunchersOnHosts, HydraGivesEveryHostItsEnvironment) {
  PoprunSetup setup = job({"-n", "3", "sh", "-c", "echo $NCCL_DEBUG $SSH_AUTH_SOCK $RANK"});
  setup.program = POP_BIN_DIR "/names/mpiexec.hydra";
  setup.environment = {{"NCCL_DEBUG", "INFO"}, {"SSH_AUTH_SOCK", "/nowhere"}, {"RANK", "7"}};
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("INFO 0", "INFO 1", "INFO 2"));
}

}  // namespace
}  // namespace pop::testing
