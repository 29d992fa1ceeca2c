// SPDX-License-Identifier: Apache-2.0
// Texts that must not change by accident: files of tests/golden, compared to the character.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace pop::testing {

inline std::string golden(const std::string& name) {
  std::ifstream file(std::string(POP_SOURCE_DIR "/tests/golden/") + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << "no golden file " << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace pop::testing
