// SPDX-License-Identifier: Apache-2.0
// Each installed header, by itself.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/integration/install/installation.h"

namespace pop::testing {
namespace {

using ::testing::ContainsRegex;

class InstalledHeaders : public ::testing::Test {
 protected:
  /// The compiler's errors for `#include "popdist/<header>"` in that C++.
  std::string failureOf(const std::string& header, const std::string& standard) const {
    return installed_.failure({"sh", "-c",
                               "echo \"#include \\\"popdist/$1\\\"\" | "
                               "LC_ALL=C " COMPILER
                               " -std=$2 -fsyntax-only -Wfatal-errors -I \"$3/include\" -x c++ - 2>&1 | "
                               "{ ! grep -m 1 error: >&2; }",
                               "sh", header, standard, installed_.prefix()});
  }

  const Installation installed_;
};

TEST_F(InstalledHeaders, NeedNoOther) {
  int headers = 0;
  for (const auto& file : std::filesystem::directory_iterator(installed_.prefix() + "/include/popdist")) {
    EXPECT_EQ(failureOf(file.path().filename(), "c++20"), "") << file.path();
    ++headers;
  }
  EXPECT_GE(headers, 14);
}

// But for backends, which may be written in another C++.
TEST_F(InstalledHeaders, SayFirstThatTheyNeedCxx20) {
  for (const auto& file : std::filesystem::directory_iterator(installed_.prefix() + "/include/popdist")) {
    const std::string header = file.path().filename();
    if (header == "backend_plugin.hpp") {
      EXPECT_EQ(failureOf(header, "c++17"), "");
    } else {
      EXPECT_THAT(failureOf(header, "c++17"), ContainsRegex("#error popdist needs C\\+\\+20")) << header;
    }
  }
}

}  // namespace
}  // namespace pop::testing
