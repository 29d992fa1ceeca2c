// SPDX-License-Identifier: Apache-2.0
// Dataset::csv: what it reads, and the line, column and text that it names when it cannot.
#include <sys/stat.h>

#include <cmath>
#include <string>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/io/data_files.h"
#include "tests/unit/libpopdist/io/datasets.h"
#include "tests/unit/libpopdist/io/idx_files.h"

namespace popdist::io {
namespace {

using ::testing::ElementsAre;
using testing::expectError;
using testing::writeText;

class CsvDataset : public ::testing::Test {
 protected:
  Dataset open(const std::string& text, const CsvOptions& options) const {
    writeText(path_, text);
    return Dataset::csv(path_, options);
  }

  /// The values of one column, of the type T.
  template <typename T>
  std::vector<T> column(const std::string& text, const std::string& name, char separator = ',') const {
    const Dataset dataset = open(text, {.tensors = {{"x", {name}, typeOf<T>()}}, .separator = separator});
    std::vector<T> values;
    Tensors element(dataset.spec());
    for (std::uint64_t i = 0; dataset.read(0, i, element); ++i) values.push_back(element.get<T>("x")[0]);
    return values;
  }

  template <typename T = float>
  void expectRefused(const std::string& text, const std::string& cause,
                     ErrorCode code = ErrorCode::kInvalidArgument) const {
    expectError([&] { column<T>(text, "a"); }, code, cause);
    expectError([&] { column<T>(text, "a"); }, code, path_.string());
  }

  pop::testing::TempDir dir_;
  std::filesystem::path path_ = dir_ / "data.csv";
};

TEST_F(CsvDataset, CacheOfOtherColumnsIsRefused) {
  const CsvTensor x{"x", {"a"}};
  const auto cached = [&](const CsvOptions& options) {
    return open("1,10\n2,20\n", options).cache(dir_.path());
  };
  Tensors element(cached({.tensors = {x}, .header = {"a", "b"}}).spec());
  ASSERT_TRUE(cached({.tensors = {x}, .header = {"a", "b"}}).read(0, 0, element));
  expectError(
      [&] {
        cached({.tensors = {x}, .header = {"b", "a"}}).read(0, 0, element);
      },
      ErrorCode::kFailedPrecondition, "column 1");
}

TEST_F(CsvDataset, NumbersTooSmallAreZero) {
  EXPECT_THAT(column<float>("a\n1e-400\n-1e-50\n0.0000001e-320\n", "a"), ElementsAre(0.0F, 0.0F, 0.0F));
  EXPECT_THAT(column<double>("a\n1e-400\n", "a"), ElementsAre(0.0));
  expectRefused("a\n1e400\n", "is beyond float");
}

TEST_F(CsvDataset, PipeIsNoFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expectError(
      [&] {
        Dataset::csv(path_, {.tensors = {{"x", {"a"}}}});
      },
      ErrorCode::kInvalidArgument, "is no regular file");
}

TEST_F(CsvDataset, ColumnsBecomeTensors) {
  const Dataset dataset =
      open("id,height,weight,label\n7,1.5,80,0\n8,-2e-1,.5,255\n",
           {.tensors = {{"body", {"weight", "height"}}, {"label", {"label"}, Type::kUint8}}});
  EXPECT_EQ(dataset.size(), 2U);
  EXPECT_EQ(textOf(dataset.spec()), "body: float [2], label: uint8 []");
  Tensors element(dataset.spec());
  ASSERT_TRUE(dataset.read(0, 1, element));
  EXPECT_THAT(element.get<float>("body"), ElementsAre(0.5F, -0.2F));
  EXPECT_THAT(element.get<std::uint8_t>("label"), ElementsAre(255));
  ASSERT_TRUE(dataset.read(0, 0, element));
  EXPECT_THAT(element.get<float>("body"), ElementsAre(80.0F, 1.5F));
  EXPECT_FALSE(dataset.read(0, 2, element));
}

TEST_F(CsvDataset, NamesMayBeGivenInsteadOfAFirstLine) {
  const Dataset dataset =
      open("1;2\n3;4",
           {.tensors = {{"x", {"b", "a", "b"}, Type::kInt64}}, .header = {"a", "b"}, .separator = ';'});
  Tensors element(dataset.spec());
  ASSERT_TRUE(dataset.read(0, 1, element));
  EXPECT_THAT(element.get<std::int64_t>("x"), ElementsAre(4, 3, 4));
}

TEST_F(CsvDataset, ReadsFormsThatProgramsWrite) {
  EXPECT_THAT(column<int>("\xef\xbb\xbf"
                          "a,b\r\n1,2\r\n3,4\r\n",
                          "a"),
              ElementsAre(1, 3));
  EXPECT_THAT(column<int>("b,a\r\n1,2\r\n3,4\r\n", "a"), ElementsAre(2, 4));
  EXPECT_THAT(column<int>("a\tb\n 1 \t2\n", "a", '\t'), ElementsAre(1));
  EXPECT_THAT(column<int>("\"a\",\"the \"\"b\"\"\"\n\"1\",\"two\nlines, and a comma\"\n3,\"\"\n", "a"),
              ElementsAre(1, 3));
  EXPECT_THAT(column<int>("\"a\"\"a\"\r\n\"1\"\r\n", "a\"a"), ElementsAre(1));
  EXPECT_THAT(column<int>("a,b\n", "a"), ElementsAre());
  const std::string gzip = "a\n5\n";
  testing::writeGzip(path_, testing::Bytes(gzip.begin(), gzip.end()));
  EXPECT_EQ(Dataset::csv(path_, {.tensors = {{"x", {"a"}}}}).size(), 1U);
}

TEST_F(CsvDataset, ReadsNumbersOfEveryType) {
  EXPECT_THAT(column<bool>("a\n0\n1\ntrue\nfalse\n", "a"), ElementsAre(false, true, true, false));
  EXPECT_THAT(column<std::int8_t>("a\n-128\n", "a"), ElementsAre(-128));
  EXPECT_THAT(column<std::uint64_t>("a\n18446744073709551615\n", "a"), ElementsAre(UINT64_MAX));
  EXPECT_THAT(column<double>("a\n0.1\n", "a"), ElementsAre(0.1));
  EXPECT_EQ(static_cast<float>(column<half>("a\n0.5\n", "a")[0]), 0.5F);
  EXPECT_EQ(static_cast<float>(column<bfloat16>("a\n-3\n", "a")[0]), -3.0F);
  const auto floats = column<float>("a\nnan\ninf\n1e-60\n", "a");
  EXPECT_TRUE(std::isnan(floats[0]));
  EXPECT_TRUE(std::isinf(floats[1]));
  EXPECT_EQ(floats[2], 0.0F);
}

TEST_F(CsvDataset, NamesLineColumnAndTextOfWhatIsNoNumber) {
  expectRefused("b,a\n\"1\n2\",3\n4,five\n", "line 4, column 'a': 'five' is no float");
  expectRefused("a,b\n1,2\n,2\n", "line 3, column 'a': the field is empty, expected float");
  expectRefused("a\n1.5x\n", "'1.5x' is no float");
  expectRefused<int>("a\n1.5\n", "'1.5' is no int32");
  expectRefused<std::uint8_t>("a\n256\n", "'256' is beyond uint8");
  expectRefused<std::uint8_t>("a\n-1\n", "'-1' is no uint8");
  expectRefused("a\n1e39\n", "'1e39' is beyond float");
  expectRefused<half>("a\n1e6\n", "'1e6' is beyond half");
  expectRefused<bool>("a\n2\n", "'2' is no bool");
}

TEST_F(CsvDataset, ErrorsOfARowAreItsElements) {
  Infeed infeed(open("a\n1\nx\n3\n", {.tensors = {{"x", {"a"}}}}));
  EXPECT_NE(infeed.next(), nullptr);
  expectError([&] { infeed.next(); }, ErrorCode::kInvalidArgument, "line 3, column 'a': 'x'");
}

TEST_F(CsvDataset, RefusesRowsOfAnotherForm) {
  expectRefused("a,b\n1,2\n1\n", "line 3 has 1 field, expected 2");
  expectRefused("a,b\n1,2,3\n", "line 2 has 3 fields, expected 2");
  expectRefused("a,b\n1,2\n\n", "line 3 has 1 field, expected 2");
  expectRefused("a,b\n1,say \"no\"\n", "column 'b': 'say \"no\"' has a quote within it");
  expectRefused("a,b\n1,\"x\"y\n", "has text behind its closing quote");
  expectRefused("a,b\n1,\"x\n2,3\n", "line 2, column 'b': 'x\\x0a2,3\\x0a' has no closing quote");
  expectRefused("", "has no content");
  expectRefused("\"a\n", "has no closing quote");
}

TEST_F(CsvDataset, RefusesColumnsThatAreNotThere) {
  expectRefused("b,c\n1,2\n", "has no column 'a', only b, c", ErrorCode::kNotFound);
  expectRefused("a,a\n1,2\n", "has two columns 'a'");
  expectError([&] { open("a\n1\n", {}); }, ErrorCode::kInvalidArgument, "no tensor");
  expectError(
      [&] {
        open("a\n1\n", {.tensors = {{"x", {}}}});
      },
      ErrorCode::kInvalidArgument, "has no elements");
  expectError(
      [&] {
        open("a\n1\n", {.tensors = {{"x", {"a"}}}, .separator = '"'});
      },
      ErrorCode::kInvalidArgument, "the separator is");
}

}  // namespace
}  // namespace popdist::io
