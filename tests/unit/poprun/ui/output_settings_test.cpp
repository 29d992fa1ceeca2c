// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_settings.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

OutputSettings settingsOf(const Options& options, int instances) {
  return outputSettings(options, {.hosts = {{"a"}, {"b"}},
                                  .programs = {{.num_instances = instances}},
                                  .num_instances = instances,
                                  .num_replicas = instances});
}

TEST(OutputSettings, TagSeveralInstancesAndLeaveTheBytesOfOneAlone) {
  const OutputSettings several = settingsOf({}, 4);
  EXPECT_EQ(several.out.tag, TagOutput::kInstance);
  EXPECT_TRUE(several.err.whole_lines);
  const OutputSettings one = outputSettings({}, {.programs = {{}}});
  EXPECT_EQ(one.out.tag, TagOutput::kNo);
  EXPECT_FALSE(one.out.whole_lines);
}

TEST(OutputSettings, KeepLinesWholeWithoutTags) {
  const OutputSettings settings = settingsOf({.tag_output = TagOutput::kNo}, 2);
  EXPECT_EQ(settings.out.tag, TagOutput::kNo);
  EXPECT_TRUE(settings.out.whole_lines);
}

TEST(OutputSettings, ShowOneInstanceAsIfItWereAlone) {
  const OutputSettings both = settingsOf({.only_output_from_instance = 1}, 2);
  EXPECT_FALSE(both.out.whole_lines);
  EXPECT_FALSE(both.err.whole_lines);
  EXPECT_EQ(both.err.only_instance, 1);
  const OutputSettings out = settingsOf({.fold_output = true, .only_stdout_from_instance = 1}, 2);
  EXPECT_FALSE(out.out.whole_lines);
  EXPECT_FALSE(out.out.fold);
  EXPECT_EQ(out.out.only_instance, 1);
  EXPECT_EQ(out.err.tag, TagOutput::kInstance) << "the errors of all are seen";
  EXPECT_TRUE(out.err.fold);
  EXPECT_FALSE(out.err.only_instance.has_value());
}

TEST(OutputSettings, ShowNoStatusBesideALogOrBytes) {
  EXPECT_TRUE(settingsOf({}, 2).status_line);
  EXPECT_FALSE(settingsOf({.verbosity = 1}, 2).status_line);
  EXPECT_FALSE(settingsOf({.debug = true}, 2).status_line);
  EXPECT_FALSE(settingsOf({.only_output_from_instance = 1}, 2).status_line);
}

}  // namespace
}  // namespace pop
