// SPDX-License-Identifier: Apache-2.0
// Fences with much data, of instances with agents of their own: two "hosts" that are both this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/integration_popdist/reported_error.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class FencesOverHosts : public ::testing::Test {
 protected:
  Outcome runOnTwo(int instances, const std::vector<std::string>& command) {
    std::ofstream(rsh_) << "#!/bin/sh\nfor command; do :; done\nexec sh -c \"$command\"\n";
    std::filesystem::permissions(rsh_, std::filesystem::perms::owner_all);
    PoprunSetup setup = childSetup(instances, command);
    setup.options.insert(setup.options.begin(), {"--rsh", rsh_, "--host", "a,b"});
    PoprunProcess poprun(setup);
    const int exit_code = poprun.wait(2 * kTimeout);
    EXPECT_TRUE(poprun.goneWithin(kTimeout)) << "agents here are poprun's descendants: the last to be reaped";
    return {exit_code, poprun.out(), poprun.err()};
  }

  const TempDir directory_;
  const std::string rsh_ = directory_.path() + "/rsh";
  const std::string fifo_ = directory_.path() + "/fifo";
};

TEST_F(FencesOverHosts, MayBeRepeatedWithTheirDataAsOftenAsOneLikes) {
  ASSERT_EQ(::mkfifo(fifo_.c_str(), 0600), 0);
  const Outcome outcome = runOnTwo(2, {"retry-fence", fifo_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(FencesOverHosts, WithTooMuchDataOfAHostFailAndNameTheLimit) {
  const Outcome outcome = runOnTwo(4, {"fence-of", "40"});
  EXPECT_EQ(outcome.exit_code, kResourceExhaustedCode) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("have put more than 64 MiB for one fence"));
}

}  // namespace
}  // namespace pop::testing
