// SPDX-License-Identifier: Apache-2.0
// An installation of this build by `cmake --install`, in a directory of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/os/helper_run.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

/// Time for a compiler beside other tests: with sanitizers it can take a minute.
inline constexpr Milliseconds kCompilerTimeout{300'000};

class Installation {
 public:
  Installation() {
    // The component that all is in, so that the list of what the user has installed stays as it is.
    EXPECT_EQ(failure({CMAKE_PROGRAM, "--install", BUILD_DIRECTORY, "--prefix", prefix(), "--component",
                       "Unspecified"}),
              "");
  }

  /// With a blank in it.
  std::string prefix() const { return directory_.path() + "/opt/pop run"; }

  /// For programs and compilers of a user who has the programs in PATH.
  std::string path() const { return prefix() + "/bin:/usr/bin:/bin"; }

  /// Runs the installed poprun for that user.
  PoprunSetup job(std::vector<std::string> options) const {
    return {.options = std::move(options),
            .environment = {{"PATH", path()}},
            .program = prefix() + "/bin/poprun"};
  }

  /// The reason why that user's command has failed; empty: it has not.
  std::string failure(std::vector<std::string> command) const {
    command.insert(command.begin(), {"/usr/bin/env", "PATH=" + path()});
    return os::outputOf(command, kCompilerTimeout).status().message();
  }

 private:
  TempDir directory_;
};

}  // namespace pop::testing
