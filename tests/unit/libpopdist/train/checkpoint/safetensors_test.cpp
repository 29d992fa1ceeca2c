// SPDX-License-Identifier: Apache-2.0
// The head of safetensors files, as other programs write it and as we do.
#include "libpopdist/train/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace popdist::train {
namespace {

std::string headed(const std::string& json) {
  const std::uint64_t length = json.size();
  std::string header(sizeof length, '\0');
  std::memcpy(header.data(), &length, sizeof length);
  return header + json;
}

std::string error(const std::string& json, std::uint64_t data_bytes) {
  const std::string header = headed(json);
  const auto read = parseSafetensors(header, header.size() + data_bytes);
  EXPECT_TRUE(read.ok() || read.code() == pop::Code::kDataLoss);
  return read.status().message();
}

TEST(Safetensors, AreReadAsTheyWereWritten) {
  const Spec spec{{"a \"quoted\" name", Type::kDouble, {2, 3}},
                  {"h", Type::kHalf, {}},
                  {"empty", Type::kInt8, {0}},
                  {"b", Type::kBool, {7}}};
  const std::string header = safetensorsHeader(spec).value();
  EXPECT_EQ(header.size() % kFilePageBytes, 0U);
  EXPECT_EQ(header[8], '{');
  const auto read = parseSafetensors(header, header.size() + 48 + 2 + 7);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read.value().size(), spec.size());
  std::uint64_t at = header.size();
  for (const StoredTensor& tensor : read.value()) {
    EXPECT_EQ(tensor.begin, at);
    at += tensor.spec.bytes();
  }
  EXPECT_EQ(read.value()[0].spec, spec[0]);
  EXPECT_EQ(read.value()[1].spec, spec[1]);
}

TEST(Safetensors, HaveEveryType) {
  Spec spec;
  std::uint64_t bytes = 0;
  for (int type = 0; type <= static_cast<int>(Type::kDouble); ++type) {
    spec.push_back({"t" + std::to_string(type), static_cast<Type>(type), {3}});
    bytes += spec.back().bytes();
  }
  const std::string header = safetensorsHeader(spec).value();
  const auto read = parseSafetensors(header, header.size() + bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (std::size_t i = 0; i < spec.size(); ++i) EXPECT_EQ(read.value()[i].spec, spec[i]);
}

TEST(Safetensors, OfOtherProgramsAreRead) {
  // As the Python package writes it: sorted by type, padded to 8 bytes.
  const std::string header =
      headed(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
             R"("b":{"dtype":"I64","shape":[],"data_offsets":[16,24]}}    )");
  const auto read = parseSafetensors(header, header.size() + 24);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value()[1].spec, (TensorSpec{"b", Type::kInt64, {}}));
  EXPECT_EQ(read.value()[1].begin, header.size() + 16);
}

TEST(Safetensors, BrokenRulesAreNamed) {
  using ::testing::HasSubstr;
  EXPECT_EQ(error(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8), "");
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9), HasSubstr("9 bytes"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7), HasSubstr("7 bytes"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8), HasSubstr("12 bytes"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", 8),
              HasSubstr("F8_E4M3"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})", 9), HasSubstr("begin at 1"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8),
              HasSubstr("data_offsets"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8), HasSubstr("no size"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[2]}})", 8), HasSubstr("'w'"));
  EXPECT_THAT(error(R"({"w":{"shape":[2],"data_offsets":[0,8]}})", 8), HasSubstr("no dtype"));
  EXPECT_THAT(error(R"({"w":[]})", 8), HasSubstr("'w'"));
  EXPECT_THAT(error(R"({"__metadata__":{"a":1}})", 0), HasSubstr("strings"));
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4,2],"data_offsets":[0,8]}})", 8),
              HasSubstr("address space"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                    R"("b":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}})",
                    12),
              HasSubstr("begin at 4, those before end at 8"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                    R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                    0),
              HasSubstr("second member 'a'"));
  EXPECT_THAT(error(R"( {})", 0), HasSubstr("begin with {"));
}

TEST(Safetensors, LengthsAreNotBelieved) {
  std::string header = headed("{}");
  EXPECT_TRUE(parseSafetensors(header, header.size()).ok());
  EXPECT_FALSE(parseSafetensors(header, header.size() - 1).ok());
  EXPECT_FALSE(parseSafetensors(header.substr(0, 7), 7).ok());
  EXPECT_FALSE(parseSafetensors(header.substr(0, 9), header.size()).ok());
  header.replace(0, 8, 8, '\xff');
  EXPECT_FALSE(parseSafetensors(header, UINT64_MAX).ok());
}

TEST(SafetensorsHeader, RefusesNamesThatCannotBe) {
  EXPECT_FALSE(safetensorsHeader({{"__metadata__", Type::kFloat, {}}}).ok());
  EXPECT_FALSE(safetensorsHeader({{"a", Type::kFloat, {}}, {"a", Type::kFloat, {}}}).ok());
}

}  // namespace
}  // namespace popdist::train
