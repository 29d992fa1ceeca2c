// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::pod::predict {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSmall =
    "chip = Bow\nmicro_batch = 3 # packs\n\ngradient_accumulation=64\ngradients = 672 MB\n";

std::string modelError(const std::string& text) {
  return parseModel(text, "x.model").status().message();
}

TEST(ModelFile, ReadsNumbersWithTheirUnits) {
  const Training training =
      parseModel(std::string(kSmall) +
                     "stages = 8\r\nmicro_batch_time = 4146 us\ngateway_time = 0 ms\nbatch_norm_layers = 53\n"
                     "batch_norm_span = 2\nbatch_norm_statistics = 4 KiB\n",
                 "x.model")
          .value();
  EXPECT_EQ(training.chip, "Bow");
  EXPECT_EQ(training.micro_batch, 3);
  EXPECT_EQ(training.gradient_accumulation, 64);
  EXPECT_EQ(training.gradient_bytes, 672'000'000U);
  EXPECT_EQ(training.stages, 8);
  EXPECT_DOUBLE_EQ(training.micro_batch_s.value(), 4.146e-3);
  EXPECT_DOUBLE_EQ(training.gateway_s.value(), 0);
  EXPECT_FALSE(training.fixed_s.has_value());
  EXPECT_EQ(training.batch_norm.statistics_bytes, 4096U);
}

TEST(ModelFile, IsWrittenAsItIsRead) {
  Training training = parseModel(kSmall, "x.model").value();
  training.fixed_s = 0.1617;
  const std::string text = modelText(training);
  EXPECT_THAT(text, HasSubstr("fixed_time = 161.7 ms\n"));
  EXPECT_THAT(text, Not(HasSubstr("micro_batch_time")));
  EXPECT_EQ(modelText(parseModel(text, "x.model").value()), text);
}

TEST(ModelFile, ErrorsNameLineKeyAndCause) {
  const std::string small = kSmall;
  EXPECT_THAT(modelError(small + "fixed_tme = 1 ms\n"),
              HasSubstr("'x.model', line 6: unknown key 'fixed_tme': did you mean fixed_time?"));
  EXPECT_THAT(modelError(small + "fixed_time = 161.7\n"),
              HasSubstr("line 6: fixed_time: '161.7' has no unit: add one of ps, ns, us, ms, s"));
  EXPECT_THAT(modelError(small + "fixed_time = 161.7 mB\n"), HasSubstr("'mB' is no unit for it"));
  EXPECT_THAT(modelError(small + "fixed_time = -1 ms\n"), HasSubstr("'-1 ms' is negative"));
  EXPECT_THAT(modelError(small + "fixed_time = nan ms\n"), HasSubstr("no number with a unit"));
  EXPECT_THAT(modelError(small + "fixed_time = 1e300 s\n"), HasSubstr("is more than"));
  EXPECT_THAT(modelError(small + "fixed_time =\n"), HasSubstr("no number with a unit"));
  EXPECT_THAT(modelError(small + "chip = Mk2\n"), HasSubstr("line 6: chip is already in line 1"));
  EXPECT_THAT(modelError(small + "stages = 0\n"), HasSubstr("'0' is no whole number from 1"));
  EXPECT_THAT(modelError(small + "stages = 8.5\n"), HasSubstr("'8.5' is no whole number"));
  EXPECT_THAT(modelError(small + "hello\n"), HasSubstr("line 6: expected key = value"));
  EXPECT_THAT(modelError("chip = A100\n"), HasSubstr("use Mk2, Bow or Mk1"));
  EXPECT_THAT(modelError("chip = Mk2\n"), HasSubstr("'x.model': micro_batch is missing"));
  EXPECT_THAT(modelError(small + "batch_norm_layers = 53\n"), HasSubstr("belong together"));
  EXPECT_THAT(modelError(small + "ipus_per_replica = 3\n"), HasSubstr("a power of two of IPUs, not 3"));
  EXPECT_THAT(modelError(small + "samples_per_element = 0\n"), HasSubstr("no number above 0"));
}

}  // namespace
}  // namespace pop::pod::predict
