// SPDX-License-Identifier: Apache-2.0
// libpopdist.so as it is installed: what it exports, programs in C and in C++, and two copies in a process.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/install/installation.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class SharedLibrary : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_.path() + '/' + name; }

  /// Compiles `source` to the program `name`, by the package's flags. eval, for the blank in the prefix.
  std::string failureToCompile(const std::string& compiler, const std::string& source,
                               const std::string& name, const std::string& package) const {
    const std::string command = compiler + ' ' + COMPILER_FLAGS + " '" + source + "' -o '" + file(name) +
                                "' $(pkg-config --cflags --libs " + package + ")";
    return installed_.failure({"PKG_CONFIG_PATH=" + installed_.prefix() + "/" LIBRARY_DIRECTORY "/pkgconfig",
                               "sh", "-c", "eval \"" + command + '"'});
  }

  const Installation installed_;

 private:
  TempDir directory_;
};

TEST_F(SharedLibrary, ExportsWhatIsListed) {
  EXPECT_EQ(installed_.failure(
                {"python3", "-B", POP_SOURCE_DIR "/scripts/gen_exports", "--check", BUILD_DIRECTORY}),
            "");
}

TEST_F(SharedLibrary, IsCalledFromC) {
  ASSERT_EQ(
      failureToCompile("cc -std=c99 -Wall -Wextra -Wpedantic -Werror",
                       POP_SOURCE_DIR "/tests/integration/install/c_program.c", "program", "popdist_shared"),
      "");
  const Outcome outcome =
      run(installed_.job({"--num-instances", "2", "--num-replicas", "4", file("program")}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("[0] all is well", "[1] all is well"));
}

TEST_F(SharedLibrary, ThrowsItsErrorsIntoProgramsInCxx) {
  std::ofstream(file("throws.cpp")) << R"(
#include <popdist/popdist.hpp>
#include <cstdio>
int main() {
  popdist::Context& context = popdist::Context::fromEnvironment();
  float value = 1;
  context.world().allReduce(std::span(&value, 1));
  try {
    context.world().broadcast(std::span(&value, 1), 9);
  } catch (const popdist::popdist_error& error) {
    std::printf("%g %d %s\n", value, static_cast<int>(error.code()), error.operation().c_str());
  }
}
)";
  ASSERT_EQ(failureToCompile(COMPILER " -std=c++20", file("throws.cpp"), "throws", "popdist_shared"), "");
  const Outcome outcome = run(installed_.job({"--num-instances", "2", file("throws")}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("[0] 2 3 broadcast", "[1] 2 3 broadcast"));
}

TEST_F(SharedLibrary, IsRefusedInAProgramThatHasACopy) {
  std::ofstream(file("twice.cpp")) << R"(
#include <dlfcn.h>
#include <popdist/popdist.hpp>
#include <popdist_c.h>
#include <cstdio>
int main(int, char** arguments) {
  popdist::Context::fromEnvironment().world().barrier();
  void* const library = dlopen(arguments[1], RTLD_NOW);
  const auto context = reinterpret_cast<decltype(&popdist_context)>(dlsym(library, "popdist_context"));
  const auto message =
      reinterpret_cast<decltype(&popdist_error_message)>(dlsym(library, "popdist_error_message"));
  popdist_context_t* second = nullptr;
  popdist_error_t* const error = context(&second);
  std::puts(error == nullptr ? "no error" : message(error));
  popdist::Context::fromEnvironment().world().barrier();
}
)";
  ASSERT_EQ(failureToCompile(COMPILER " -std=c++20", file("twice.cpp"), "twice", "popdist"), "");
  const std::string library = installed_.prefix() + "/" LIBRARY_DIRECTORY "/libpopdist.so.0";
  const Outcome outcome = run(installed_.job({"--num-instances", "1", file("twice"), library}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("two copies of libpopdist"), HasSubstr(file("twice") + ", beside "),
                    HasSubstr(installed_.prefix() + "/" LIBRARY_DIRECTORY "/libpopdist.so.0.")));
}

}  // namespace
}  // namespace pop::testing
