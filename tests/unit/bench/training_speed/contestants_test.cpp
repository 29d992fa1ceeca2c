// SPDX-License-Identifier: Apache-2.0
#include "bench/training_speed/contestants.h"

#include <gtest/gtest.h>

namespace pop::bench {
namespace {

TEST(WhyBlasIsSlow, AcceptsOpenBlasOnly) {
  EXPECT_EQ(whyBlasIsSlow("/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3 "
                          "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblasp-r0.3.21.so\n"),
            "");
  EXPECT_NE(whyBlasIsSlow("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0\n").find("libopenblas0-pthread"),
            std::string::npos);
}

TEST(ChooseTrainers, SaysThatAnExampleThatCannotStartIsUnusable) {
  const std::vector<Trainer> trainers = chooseTrainers({"example-avx2"}, "/nonexistent");
  ASSERT_EQ(trainers.size(), 1U);
  EXPECT_NE(trainers[0].why_unusable, "");
}

}  // namespace
}  // namespace pop::bench
