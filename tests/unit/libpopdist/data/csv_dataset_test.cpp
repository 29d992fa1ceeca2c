// SPDX-License-Identifier: Apache-2.0
// Dataset::csv: what it reads, and the line, column and text that it names when it cannot.
#include <sys/stat.h>

#include <cmath>
#include <string>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/data_files.h"
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/data/idx_files.h"

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

TEST_F(CsvDataset, ReadsNumbersAsProgramsWriteThem) {
  EXPECT_THAT(column<float>("a\n+1.5\n 2.5 \n\t-3\n\" 4 \"\n \"5\" \n1e5\n1E+05\n.5\n1.\n", "a"),
              ElementsAre(1.5F, 2.5F, -3, 4, 5, 1e5F, 1e5F, 0.5F, 1));
  EXPECT_THAT(column<bool>("a\nTrue\nFalse\nTRUE\nFALSE\n\"true\"\n1.0\n0.0\n+1\n", "a"),
              ElementsAre(true, false, true, false, true, true, false, true));
  EXPECT_THAT(column<float>("a\nTrue\nFALSE\n", "a"), ElementsAre(1, 0));
  EXPECT_THAT(column<int>("a\nTrue\n+5\n1e5\n1e+05\n3.0\n-1.50e1\n1200e-2\n0e9\n-0.0\n", "a"),
              ElementsAre(1, 5, 100000, 100000, 3, -15, 12, 0, 0));
  EXPECT_THAT(column<std::int64_t>("a\n9007199254740993.0\n9.223372036854775807e18\n", "a"),
              ElementsAre(9007199254740993, INT64_MAX));
  EXPECT_THAT(column<std::uint8_t>("a\n-0\n2.55E+02\n", "a"), ElementsAre(0, 255));
  for (const std::string text : {"nan", "NaN", "NAN", "-nan", "+NaN", "-nan(ind)", "1.#QNAN", "-1.#IND00"})
    EXPECT_TRUE(std::isnan(column<float>("a\n" + text + "\n", "a")[0])) << text;
  for (const std::string text : {"inf", "Inf", "INF", "+inf", "Infinity", "infinity", "1.#INF", "1.#INF00"}) {
    EXPECT_THAT(column<double>("a\n" + text + "\n", "a"), ElementsAre(HUGE_VAL)) << text;
    const std::string positive = text[0] == '+' ? text.substr(1) : text;
    EXPECT_THAT(column<float>("a\n-" + positive + "\n", "a"), ElementsAre(-HUGE_VALF)) << text;
  }
  EXPECT_EQ(static_cast<float>(column<half>("a\n+Inf\n", "a")[0]), HUGE_VALF);
}

TEST_F(CsvDataset, GuessesNoNumber) {
  for (const std::string text :
       {"+",  "+-1", "-+1",  "++1",  "+ 1",  "1 000", "\"1,5\"", "0x10",  "1_000", "1d5",  "e5", ".",
        "1e", "NA",  "#N/A", "None", "null", "T",     "yes",     "+true", "1.#",   "1.#x", "5%", "$5"}) {
    for (const bool is_whole : {false, true}) {
      const auto read = [&] {
        return is_whole ? column<int>("a\n" + text + "\n", "a").size()
                        : column<float>("a\n" + text + "\n", "a").size();
      };
      expectError(read, ErrorCode::kInvalidArgument, "line 2, column 'a': ");
    }
  }
  for (const std::string text : {"1.5", "1e-1", "inf", "nan"})
    expectRefused<int>("a\n" + text + "\n", "is no int32");
  expectRefused<int>("a\n1e10\n", "'1e10' is beyond int32");
  for (const std::string text : {"2.0", "-1", "0.5", "T", "yes"})
    expectRefused<bool>("a\n" + text + "\n", "is no bool");
}

TEST_F(CsvDataset, ReadsFilesOfPandasRNumpyAndExcel) {
  EXPECT_THAT(column<bool>(",a,b\n0,True,1.0\n1,False,\n", "a"), ElementsAre(true, false)) << "pandas";
  EXPECT_THAT(column<int>("\"\",\"a\",\"b\"\n\"1\",1e+05,TRUE\n\"2\",2,NA\n", "a"), ElementsAre(100000, 2))
      << "R";
  EXPECT_THAT(column<int>("# a b\n1.000000000000000000e+00 2e0\n", "a", ' '), ElementsAre(1)) << "NumPy";
  EXPECT_THAT(column<int>("# a,b\n1.0e+00,2e0\n", "a"), ElementsAre(1)) << "NumPy";
  EXPECT_THAT(column<int>("#a,b\n1,2\n", "#a"), ElementsAre(1));
  EXPECT_THAT(column<float>("\xef\xbb\xbf\"a\";b\r\n1;TRUE\r\n2.5;FALSE\r\n", "a", ';'), ElementsAre(1, 2.5F))
      << "Excel";
  EXPECT_THAT(column<int>("b,a\r1,\"2\"\r3,4\r", "a"), ElementsAre(2, 4)) << "Excel, for Macintosh";
  expectRefused("b,a\r1,x\r3,y\r", "line 2, column 'a': 'x'");
}

TEST_F(CsvDataset, NamesOtherEncodings) {
  const auto wide = [](const std::string& text, std::size_t width, bool is_big, bool has_mark) {
    std::string bytes;
    for (const char32_t letter :
         (has_mark ? std::u32string(1, 0xfeff) : std::u32string()) + std::u32string(text.begin(), text.end()))
      for (std::size_t i = 0; i < width; ++i)
        bytes += static_cast<char>(letter >> (8 * (is_big ? width - 1 - i : i)) & 0xffU);
    return bytes;
  };
  for (const bool is_big : {false, true}) {
    expectRefused(wide("a,b\r\n1,2\r\n", 2, is_big, true), "is text in UTF-16, expected UTF-8");
    expectRefused(wide("a\tb\n1\t2\n", 2, is_big, false), "is text in UTF-16, expected UTF-8");
    expectRefused(wide("a,b\n1,2\n", 4, is_big, true), "is text in UTF-32, expected UTF-8");
  }
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
