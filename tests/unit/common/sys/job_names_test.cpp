// SPDX-License-Identifier: Apache-2.0
#include "common/sys/job_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pop {
namespace {

TEST(JobKey, IsNeverTheSame) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.insert(randomKey());
  EXPECT_EQ(keys.size(), 100U);
  for (const std::string& key : keys) EXPECT_EQ(key.size(), 16U);
}

}  // namespace
}  // namespace pop
