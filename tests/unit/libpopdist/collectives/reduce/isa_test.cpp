// SPDX-License-Identifier: Apache-2.0
// Which instruction set is chosen, and what becomes of a wrong choice.
#include "libpopdist/internal/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace popdist::reduce {
namespace {

using testing::HasSubstr;

TEST(Isa, TheBaselineIsAlwaysThere) {
  ASSERT_FALSE(availableIsas().empty());
  EXPECT_EQ(availableIsas().front(), Isa::kBaseline);
}

TEST(Isa, IsFoundByItsName) {
  for (const Isa isa : availableIsas()) {
    ASSERT_TRUE(isaNamed(nameOf(isa)).ok()) << nameOf(isa);
    EXPECT_EQ(isaNamed(nameOf(isa)).value(), isa);
  }
}

TEST(Isa, IsTheBestOneWithoutAName) {
  EXPECT_EQ(isaNamed("").value(), availableIsas().back());
}

TEST(Isa, AnUnknownNameIsAnErrorThatSaysWhatThereIs) {
  for (const char* name : {"avx", "AVX2", " avx2", "512"}) {
    EXPECT_EQ(isaNamed(name).code(), pop::Code::kInvalidArgument) << name;
    EXPECT_THAT(isaNamed(name).status().message(), HasSubstr("POPDIST_SIMD=" + std::string(name)));
    EXPECT_THAT(isaNamed(name).status().message(), HasSubstr("baseline"));
  }
}

TEST(Isa, OneThatTheCpuLacksIsAnError) {
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16}) {
    if (isa <= availableIsas().back()) continue;
    EXPECT_EQ(isaNamed(nameOf(isa)).code(), pop::Code::kFailedPrecondition);
    EXPECT_THAT(isaNamed(nameOf(isa)).status().message(), HasSubstr(nameOf(isa)));
  }
}

/// In processes of their own, because the variable is read once.
class IsaDeathTest : public testing::Test {
 protected:
  IsaDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(IsaDeathTest, TheEnvironmentChooses) {
  EXPECT_EXIT(
      {
        ::setenv("POPDIST_SIMD", "baseline", 1);
        std::exit(isaFromEnvironment().ok() && isaFromEnvironment().value() == Isa::kBaseline ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(IsaDeathTest, AWrongEnvironmentIsAnError) {
  EXPECT_EXIT(
      {
        ::setenv("POPDIST_SIMD", "mmx", 1);
        std::exit(isaFromEnvironment().code() == pop::Code::kInvalidArgument ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace popdist::reduce
