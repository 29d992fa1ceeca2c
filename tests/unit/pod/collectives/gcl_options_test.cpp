// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/gcl_options.h"

#include <gtest/gtest.h>

namespace pop::pod {
namespace {

TEST(GclOptions, AreThoseOfTheText) {
  EXPECT_EQ(parseGclOptions("")->method, "auto");
  EXPECT_EQ(parseGclOptions("{}")->method, "auto");
  EXPECT_TRUE(parseGclOptions("{}")->use_optimised_layout);
  auto given = parseGclOptions(R"({"method": "meet_in_middle_ring", "syncful.useOptimisedLayout": "false"})");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->method, "meet_in_middle_ring");
  EXPECT_FALSE(given->use_optimised_layout);
  EXPECT_FALSE(parseGclOptions(R"({"syncful.useOptimisedLayout": false})")->use_optimised_layout);
}

TEST(GclOptions, OfTilesAndMemoryAreTakenAndHaveNoEffect) {
  auto given = parseGclOptions(R"({"maxBytesPerTile": 35000, "syncful.maxBroadcastSize": "2048"})");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->method, "auto");
}

TEST(GclOptions, MistakesAreNamed) {
  const auto message = [](const char* text) { return parseGclOptions(text).status().message(); };
  EXPECT_EQ(message(R"({"methods": "auto"})"),
            "GCL_OPTIONS: there is no option 'methods': method and syncful.useOptimisedLayout are what the "
            "emulated Pod knows");
  EXPECT_EQ(message(R"({"method": "direct"})"),
            "GCL_OPTIONS: method is 'direct', expected auto, quickest, clockwise_ring, anticlockwise_ring, "
            "bidirectional_ring_pair, meet_in_middle_ring or quad_directional_ring");
  EXPECT_EQ(parseGclOptions(R"({"method": 1})").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(message(R"({"syncful.useOptimisedLayout": 2})"),
            "GCL_OPTIONS: syncful.useOptimisedLayout is neither true nor false");
  EXPECT_EQ(message("[]"), "GCL_OPTIONS: expected a JSON object, such as {\"method\": \"auto\"}");
  EXPECT_EQ(parseGclOptions("{").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop::pod
