// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/gcl_options.h"

#include <gtest/gtest.h>

namespace pop::pod {
namespace {

TEST(GclOptions, AreThoseOfTheText) {
  EXPECT_EQ(methodOfGclOptions("").value(), "auto");
  EXPECT_EQ(methodOfGclOptions("{}").value(), "auto");
  auto given =
      methodOfGclOptions(R"({"method": "meet_in_middle_ring", "syncful.useOptimisedLayout": "false"})");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(*given, "meet_in_middle_ring");
  EXPECT_TRUE(methodOfGclOptions(R"({"syncful.useOptimisedLayout": false})").ok());
}

TEST(GclOptions, OfTilesAndMemoryAreTakenAndHaveNoEffect) {
  auto given = methodOfGclOptions(R"({"maxBytesPerTile": 35000, "syncful.maxBroadcastSize": "2048"})");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(*given, "auto");
}

TEST(GclOptions, MistakesAreNamed) {
  const auto message = [](const char* text) { return methodOfGclOptions(text).status().message(); };
  EXPECT_EQ(message(R"({"methods": "auto"})"),
            "GCL_OPTIONS: there is no option 'methods': method and syncful.useOptimisedLayout are what the "
            "emulated Pod knows");
  EXPECT_EQ(message(R"({"method": "direct"})"),
            "GCL_OPTIONS: method is 'direct', expected auto, quickest, clockwise_ring, anticlockwise_ring, "
            "bidirectional_ring_pair, meet_in_middle_ring or quad_directional_ring");
  EXPECT_EQ(methodOfGclOptions(R"({"method": 1})").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(message(R"({"syncful.useOptimisedLayout": 2})"),
            "GCL_OPTIONS: syncful.useOptimisedLayout is neither true nor false");
  EXPECT_EQ(message("[]"), "GCL_OPTIONS: expected a JSON object, such as {\"method\": \"auto\"}");
  EXPECT_EQ(methodOfGclOptions("{").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop::pod
