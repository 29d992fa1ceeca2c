// SPDX-License-Identifier: Apache-2.0
// popctl, and poprun --controller, as people run them, against a daemon in the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/popctl/fake_daemon.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

using Words = std::vector<std::string>;

class PopctlTest : public ::testing::Test {
 protected:
  PoprunSetup setupOf(const Words& words) const {
    return {.options = words,
            .environment = {{"HOME", home_.path()},
                            {"XDG_CONFIG_HOME", ""},
                            {"POPDIST_TLS", ""},
                            {"POPDIST_SERVER", daemon.address()}},
            .program = POP_BIN_DIR "/popctl"};
  }
  PoprunSetup poprunOf(Words words) const {
    words.insert(words.begin(), {"--controller", daemon.address()});
    PoprunSetup setup = setupOf(words);
    setup.program.clear();
    return setup;
  }
  Outcome popctl(const Words& words) const { return run(setupOf(words)); }

  /// True if an independent JSON parser takes it.
  bool isJson(const std::string& text) const;
  std::string home() const { return home_.path(); }

  FakeDaemon daemon;

 private:
  const TempDir home_;
};

}  // namespace pop::testing
