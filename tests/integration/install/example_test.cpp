// SPDX-License-Identifier: Apache-2.0
// The installed example, copied and built as its CMakeLists.txt says.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/integration/install/installation.h"
#include "tests/testing/small_fashion_mnist.h"

namespace pop::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(InstalledExample, IsBuiltWhereItIsCopiedAndTrains) {
  const Installation installed;
  const TempDir directory;
  const std::string examples = directory.path() + "/mine";
  std::filesystem::copy(installed.prefix() + "/" DOCUMENTATION_DIRECTORY "/examples", examples,
                        std::filesystem::copy_options::recursive);
  const std::string source = examples + "/fashion_mnist";
  const std::string build = source + "/build";
  ASSERT_EQ(installed.failure({CMAKE_PROGRAM, "-G", "Ninja", "-S", source, "-B", build,
                               std::string("-DCMAKE_CXX_COMPILER=") + COMPILER,
                               std::string("-DCMAKE_CXX_FLAGS=") + COMPILER_FLAGS}),
            "");
  ASSERT_EQ(installed.failure({CMAKE_PROGRAM, "--build", build}), "");

  const SmallFashionMnist data;
  const Outcome outcome =
      run(installed.job({"--num-instances", "2", build + "/fashion_mnist", "--data", data.directory(),
                         "--epochs", "2", "--output-model", source + "/model.bin"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out),
              ElementsAre(StartsWith("[0] instruction set: "), StartsWith("[0] epoch 1/2: "),
                          StartsWith("[0] epoch 2/2: ")));
  EXPECT_TRUE(std::filesystem::exists(source + "/model.bin"));
}

}  // namespace
}  // namespace pop::testing
