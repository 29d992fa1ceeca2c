// SPDX-License-Identifier: Apache-2.0
#include "common/sys/working_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/testing/temp_dir.h"

namespace pop::sys {
namespace {

namespace fs = std::filesystem;

// In a forked child each: the directory is the whole process's.
bool isNamed(const fs::path& directory, const char* pwd, const std::string& expected) {
  EXPECT_EXIT(
      {
        if (::chdir(directory.c_str()) != 0) ::_exit(2);
        if (pwd != nullptr) {
          ::setenv("PWD", pwd, 1);
        } else {
          ::unsetenv("PWD");
        }
        const Result<std::string> found = workingDirectory();
        ::_exit(found.ok() && found.value() == expected ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "")
      << (pwd == nullptr ? "no PWD" : pwd);
  return true;
}

TEST(WorkingDirectory, IsWhatPwdSaysWhereThatIsTheSame) {
  const testing::TempDir directory;
  const fs::path top = fs::canonical(directory.path());
  fs::create_directory(top / "real");
  fs::create_directory(top / "other");
  fs::create_symlink("real", top / "link");
  const std::string real = top / "real", link = top / "link";
  isNamed(real, link.c_str(), link);
  isNamed(link, nullptr, real);
  const std::string above = top.string() + '/';
  for (const std::string& wrong : {std::string("link"), above + "other", above + "none", std::string(),
                                   above + "other/../link", above + "./link"})
    isNamed(real, wrong.c_str(), real);
}

TEST(WorkingDirectory, ThatIsGoneIsAnError) {
  const testing::TempDir directory;
  EXPECT_EXIT(
      {
        const std::string gone = directory.path() + "/gone";
        fs::create_directory(gone);
        if (::chdir(gone.c_str()) != 0) ::_exit(2);
        fs::remove(gone);
        ::setenv("PWD", directory.path().c_str(), 1);
        ::_exit(workingDirectory().code() == Code::kNotFound ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pop::sys
