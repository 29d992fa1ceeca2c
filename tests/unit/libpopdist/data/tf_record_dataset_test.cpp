// SPDX-License-Identifier: Apache-2.0
// Dataset::tfRecords and tfExamples: what they read, and what they say about files they refuse.
#include <string>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/data_files.h"
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using ::testing::ElementsAre;
using testing::example;
using testing::expectError;
using testing::feature;
using testing::littleEndian;
using testing::protoBytes;
using testing::tfRecord;
using testing::varint;
using testing::writeText;

std::string fromHex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

class TfRecordDataset : public ::testing::Test {
 protected:
  Dataset open() const { return Dataset::tfRecords({path_}, {{"x", Type::kUint8, {4}}}); }

  std::string element(const Dataset& dataset, std::uint64_t index) const {
    Tensors tensors(dataset.spec());
    if (!dataset.read(0, index, tensors)) return "none";
    const auto bytes = tensors.get<std::uint8_t>("x");
    return {bytes.begin(), bytes.end()};
  }

  pop::testing::TempDir dir_;
  std::filesystem::path path_ = dir_ / "data.tfrecord";
};

TEST_F(TfRecordDataset, ReadsTheFormat) {
  // Computed from its definition by another program.
  const std::string golden = fromHex("040000000000000042455204616263646810e6b6");
  EXPECT_EQ(tfRecord("abcd"), golden);
  writeText(path_, golden + tfRecord("efgh"));
  const Dataset dataset = open();
  EXPECT_EQ(dataset.size(), 2U);
  EXPECT_EQ(element(dataset, 1), "efgh");
  EXPECT_EQ(element(dataset, 0), "abcd");
  EXPECT_EQ(element(dataset, 2), "none");
}

TEST_F(TfRecordDataset, ReadsSeveralFilesAndGzip) {
  writeText(path_, tfRecord("0000") + tfRecord("1111"));
  writeText(dir_ / "empty", "");
  const std::string more = tfRecord("2222");
  testing::writeGzip(dir_ / "more.gz", testing::Bytes(more.begin(), more.end()));
  const Dataset dataset =
      Dataset::tfRecords({path_, dir_ / "empty", dir_ / "more.gz"}, {{"x", Type::kUint8, {4}}});
  ASSERT_EQ(dataset.size(), 3U);
  EXPECT_EQ(element(dataset, 2), "2222");
  EXPECT_EQ(element(dataset, 1), "1111");
}

TEST_F(TfRecordDataset, AFunctionDecodesRecordsOfAnySize) {
  writeText(path_, tfRecord("") + tfRecord("hello"));
  const Dataset dataset =
      Dataset::tfRecords({path_}, {{"bytes", Type::kInt32, {}}}, [](auto record, TensorRefs to) {
        to.get<std::int32_t>(0)[0] = static_cast<std::int32_t>(record.size());
      });
  Tensors tensors(dataset.spec());
  ASSERT_TRUE(dataset.read(0, 1, tensors));
  EXPECT_EQ(tensors.get<std::int32_t>(0)[0], 5);
  ASSERT_TRUE(dataset.read(0, 0, tensors));
  EXPECT_EQ(tensors.get<std::int32_t>(0)[0], 0);
}

TEST_F(TfRecordDataset, RecordsOfAnotherSizeAreNamed) {
  writeText(path_, tfRecord("abcd") + tfRecord("abc"));
  expectError([&] { element(open(), 1); }, ErrorCode::kInvalidArgument,
              "record 1 (at byte 20): it has 3 bytes, expected the 4 of x: uint8 [4]");
}

TEST_F(TfRecordDataset, NamesDamage) {
  const std::string whole = tfRecord("abcd") + tfRecord("efgh");
  const auto refuse = [&](const std::string& file, ErrorCode code, const std::string& cause) {
    writeText(path_, file);
    expectError([&] { open(); }, code, cause);
    expectError([&] { open(); }, code, path_.string());
  };
  refuse("something else, long enough", ErrorCode::kInvalidArgument, "is no TFRecord file");
  for (const std::size_t bytes : {21U, 31U, 33U, 39U})
    refuse(whole.substr(0, bytes), ErrorCode::kDataLoss, "record 1 (at byte 20) is truncated");
  std::string damaged = whole;
  damaged[20] ^= 1;
  refuse(damaged, ErrorCode::kDataLoss, "record 1 (at byte 20) is damaged: its length");
  damaged = whole;
  damaged[33] ^= 1;
  writeText(path_, damaged);
  const Dataset dataset = open();
  EXPECT_EQ(element(dataset, 0), "abcd");
  expectError([&] { element(dataset, 1); }, ErrorCode::kDataLoss, "its data has another checksum");
  expectError(
      [&] {
        Dataset::tfRecords({}, {{"x", Type::kUint8, {4}}});
      },
      ErrorCode::kInvalidArgument, "no files");
}

TEST_F(TfRecordDataset, RefusesLengthsBeyondTheFile) {
  for (const std::uint64_t length : {std::uint64_t{1} << 40U, UINT64_MAX, UINT64_MAX - 15}) {
    const std::string head = littleEndian(length);
    writeText(path_, head + testing::maskedChecksum(head) + "abcd0000");
    expectError([&] { open(); }, ErrorCode::kDataLoss, "of which 8 are there");
  }
}

class TfExampleDataset : public TfRecordDataset {
 protected:
  Tensors read(const std::string& message, const Spec& features) const {
    writeText(path_, tfRecord(message));
    const Dataset dataset = Dataset::tfExamples({path_}, features);
    Tensors tensors(dataset.spec());
    EXPECT_TRUE(dataset.read(0, 0, tensors));
    return tensors;
  }

  void expectRefused(const std::string& message, const TensorSpec& feature, const std::string& cause,
                     ErrorCode code = ErrorCode::kInvalidArgument) const {
    expectError([&] { read(message, {feature}); }, code, cause);
    expectError([&] { read(message, {feature}); }, code, path_.string());
  }
};

TEST_F(TfExampleDataset, ReadsWhatProtocEncodes) {
  // image: "abcd", label: -7, x: 0.5 and -2.
  const Tensors tensors = read(
      fromHex("0a3f0a110a05696d61676512080a060a04616263640a170a056c6162656c120e1a0c0a0af9ffffffffffffffff"
              "010a110a0178120c120a0a080000003f000000c0"),
      {{"x", Type::kFloat, {2}}, {"image", Type::kUint8, {2, 2}}, {"label", Type::kInt64, {}}});
  EXPECT_THAT(tensors.get<float>("x"), ElementsAre(0.5F, -2.0F));
  EXPECT_THAT(tensors.get<std::int64_t>("label"), ElementsAre(-7));
  EXPECT_THAT(tensors.get<std::uint8_t>("image"), ElementsAre('a', 'b', 'c', 'd'));
}

TEST_F(TfExampleDataset, ReadsListsInEveryForm) {
  const std::string one_by_one =
      varint(1U << 3U | 5U) + littleEndian(1.5F) + varint(1U << 3U | 5U) + littleEndian(2.5F);
  EXPECT_THAT(read(example(feature("x", 2, one_by_one)), {{"x", Type::kFloat, {2}}}).get<float>("x"),
              ElementsAre(1.5F, 2.5F));
  const std::string integers = varint(1U << 3U) + varint(300) + protoBytes(1, varint(1) + varint(2));
  EXPECT_THAT(read(example(feature("n", 3, integers)), {{"n", Type::kInt64, {3}}}).get<std::int64_t>("n"),
              ElementsAre(300, 1, 2));
  const std::string strings = protoBytes(1, "ab") + protoBytes(1, "cd") + protoBytes(1, "ef");
  EXPECT_THAT(read(example(feature("s", 1, strings)), {{"s", Type::kUint8, {3, 2}}}).get<std::uint8_t>("s"),
              ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  // Unknown fields are passed over, and the last of two features of a name is the one.
  const std::string strange = protoBytes(9, "?") + varint(10U << 3U) + varint(5) +
                              example(feature("n", 3, protoBytes(1, varint(1))) + protoBytes(7, "?") +
                                      feature("n", 3, protoBytes(1, varint(2))));
  EXPECT_THAT(read(strange, {{"n", Type::kInt64, {1}}}).get<std::int64_t>("n"), ElementsAre(2));
}

TEST_F(TfExampleDataset, NamesFeaturesThatDoNotFit) {
  const std::string message = example(feature("label", 3, protoBytes(1, varint(1) + varint(2))) +
                                      feature("s", 1, protoBytes(1, "ab") + protoBytes(1, "c")));
  expectRefused(message, {"x", Type::kFloat, {}},
                "record 0 (at byte 0): it has no feature 'x', only label, s");
  expectRefused(message, {"label", Type::kFloat, {2}},
                "the feature 'label' is an int64_list, but a tensor of float takes a float_list");
  expectRefused(message, {"label", Type::kInt64, {3}}, "has 2 values, expected the 3 of label: int64 [3]");
  expectRefused(message, {"label", Type::kInt64, {}}, "has 2 values, expected the 1");
  expectRefused(message, {"s", Type::kUint8, {3}}, "has 3 bytes in 2 strings");
  expectRefused(message, {"s", Type::kUint8, {2, 1}}, "has 3 bytes in 2 strings, expected the 2");
  expectRefused("", {"x", Type::kFloat, {}}, "no other either");
  expectRefused(example(feature("x", 2, "")), {"x", Type::kFloat, {}}, "has 0 values");
  expectError(
      [&] {
        read(message, {{"label", Type::kInt32, {2}}});
      },
      ErrorCode::kInvalidArgument, "map() makes other types");
}

TEST_F(TfExampleDataset, MalformedMessagesAreNamed) {
  const TensorSpec x{"x", Type::kFloat, {1}};
  const auto refuse = [&](const std::string& message) {
    expectRefused(message, x, "it is no tf.train.Example", ErrorCode::kDataLoss);
  };
  refuse("\xff\xff\xff");
  refuse(std::string("\0\0", 2));                         // a field of number 0
  refuse("\x0b");                                         // a group
  refuse(std::string("\x0a") + varint(1ULL << 40U));      // longer than the message
  refuse(std::string("\x0a") + std::string(10, '\xff'));  // a length beyond 64 bits
  refuse(example(protoBytes(1, "\x0a\x05x")));
  refuse(example(feature("x", 2, protoBytes(1, "abc"))));  // no whole float
  refuse(example(feature("x", 2, varint(1U << 3U) + varint(1))));
}

}  // namespace
}  // namespace popdist::io
