// SPDX-License-Identifier: Apache-2.0
// The program in README.md, outside this repository.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "common/sys/fd.h"
#include "tests/integration/install/installation.h"

namespace pop::testing {
namespace {

using ::testing::UnorderedElementsAre;

// The first piece in this language.
std::string pieceOfReadme(const std::string& language) {
  const std::string text = sys::readFile(POP_SOURCE_DIR "/README.md").value();
  const std::string fence = "```" + language + '\n';
  const std::size_t begin = text.find(fence);
  POP_CHECK(begin != std::string::npos);
  return text.substr(begin + fence.size(), text.find("```", begin + 1) - begin - fence.size());
}

class ReadmeProgram : public ::testing::Test {
 protected:
  ReadmeProgram() { std::ofstream(directory() + "/hello.cpp") << pieceOfReadme("cpp"); }

  const std::string& directory() const { return directory_.path(); }

  void expectSumsOf(const std::string& program) const {
    const Outcome outcome = run(installed_.job({"--num-instances", "4", program}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(linesOf(outcome.out),
                UnorderedElementsAre("[0] instance 0 of 4: 10", "[1] instance 1 of 4: 10",
                                     "[2] instance 2 of 4: 10", "[3] instance 3 of 4: 10"));
  }

  const Installation installed_;

 private:
  TempDir directory_;
};

TEST_F(ReadmeProgram, IsBuiltByFindPackage) {
  std::string project = pieceOfReadme("cmake");
  const std::string subfolder = "add_subdirectory(poprun)";
  const std::size_t at = project.find(subfolder);
  ASSERT_NE(at, std::string::npos);
  project.replace(at, subfolder.size(), "find_package(popdist REQUIRED)");
  std::ofstream(directory() + "/CMakeLists.txt") << project;

  const std::string build = directory() + "/build";
  ASSERT_EQ(installed_.failure({CMAKE_PROGRAM, "-G", "Ninja", "-S", directory(), "-B", build,
                                std::string("-DCMAKE_CXX_COMPILER=") + COMPILER,
                                std::string("-DCMAKE_CXX_FLAGS=") + COMPILER_FLAGS}),
            "");
  ASSERT_EQ(installed_.failure({CMAKE_PROGRAM, "--build", build}), "");
  expectSumsOf(build + "/hello");
}

// eval, for the blank in the prefix.
TEST_F(ReadmeProgram, IsBuiltWithWhatPkgConfigSays) {
  const auto failureOf = [this](const std::string& options) {
    return installed_.failure(
        {"PKG_CONFIG_PATH=" + installed_.prefix() + "/" LIBRARY_DIRECTORY "/pkgconfig", "sh", "-c",
         "cd \"$1\" && eval \"" COMPILER " " COMPILER_FLAGS " -std=c++20 hello.cpp -o hello " + options + '"',
         "sh", directory()});
  };
  ASSERT_EQ(failureOf("$(pkg-config --cflags --libs popdist)"), "");
  expectSumsOf(directory() + "/hello");

  const std::string whole = "-Wl,--whole-archive,-l:libpopdist.a,--no-whole-archive";
  EXPECT_EQ(
      failureOf("$(pkg-config --cflags --libs-only-L popdist) " + whole + " $(pkg-config --libs popdist)"),
      "")
      << "some part of the library needs what is not there";
}

}  // namespace
}  // namespace pop::testing
