// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/copy_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CopyPaths : public ::testing::Test {
 protected:
  std::vector<std::string> paths() {
    mistakes_.clear();
    return pathsToCopy(options_, here_, mistakes_);
  }

  Options options_;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> mistakes_;
  Surroundings here_{.host_name = "node7",
                     .variable = [this](const char* name) -> const char* {
                       const auto found = variables_.find(name);
                       return found == variables_.end() ? nullptr : found->second.c_str();
                     },
                     .file = {},
                     .directory = "/home/a",
                     .exists = [](const std::string& path) { return !path.starts_with("/nowhere"); }};
};

TEST_F(CopyPaths, AreNoneUnlessAskedFor) {
  EXPECT_THAT(paths(), IsEmpty());
  EXPECT_THAT(mistakes_, IsEmpty());
}

TEST_F(CopyPaths, AreAbsoluteAndEachOnce) {
  options_.synchronise = {"data/", "/opt//x/./y", "../b", "/opt/x/y", "/home/a/data/train"};
  EXPECT_THAT(paths(), ElementsAre("/home/a/data", "/opt/x/y", "/home/b"));
  EXPECT_THAT(mistakes_, IsEmpty());
}

TEST_F(CopyPaths, OfADirectoryTakeInWhatIsInIt) {
  options_.synchronise = {"/opt/x", "/opt/xy", "/opt", "/other"};
  EXPECT_THAT(paths(), ElementsAre("/opt", "/other"));
}

TEST_F(CopyPaths, OfPythonAndPoplarAreWhereTheirVariablesSay) {
  options_.synchronise_python_venv = options_.synchronise_poplar_sdk = true;
  variables_ = {{"VIRTUAL_ENV", "/home/a/venv"}, {"POPLAR_SDK_ENABLED", "/opt/sdk-3.3/poplar-3.3"}};
  EXPECT_THAT(paths(), ElementsAre("/home/a/venv", "/opt/sdk-3.3"));
  EXPECT_THAT(mistakes_, IsEmpty());
}

TEST_F(CopyPaths, SayAllTheirMistakesAtOnce) {
  options_.synchronise = {"/", "/nowhere/a", "../../.."};
  options_.synchronise_python_venv = options_.synchronise_poplar_sdk = true;
  variables_ = {{"POPLAR_SDK_ENABLED", "true"}};
  EXPECT_THAT(paths(), IsEmpty());
  EXPECT_THAT(mistakes_,
              ElementsAre(HasSubstr("--synchronise /: that would copy all of this host"),
                          HasSubstr("--synchronise /nowhere/a: there is no /nowhere/a on this host"),
                          HasSubstr("--synchronise ../../..: that would copy all"),
                          HasSubstr("--synchronise-python-venv: no Python environment is active"),
                          HasSubstr("--synchronise-poplar-sdk: no Poplar SDK is enabled")));
}

TEST_F(CopyPaths, AreInTheJob) {
  options_.programs.front().command = {"./train"};
  options_.synchronise = {"data", "/nowhere"};
  options_.distribute_ssh_key = true;
  const BuiltJob job = buildJob(options_, here_);
  EXPECT_THAT(job.spec.copies.paths, ElementsAre("/home/a/data"));
  EXPECT_TRUE(job.spec.copies.ssh_key);
  EXPECT_THAT(job.mistakes, ElementsAre(HasSubstr("--synchronise /nowhere")));
}

}  // namespace
}  // namespace pop
