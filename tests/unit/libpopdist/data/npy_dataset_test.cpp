// SPDX-License-Identifier: Apache-2.0
// Dataset::npy: what it reads, and what it says about files it refuses. Heads are as NumPy 1.24 writes them.
#include <string>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/data_files.h"
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using ::testing::ElementsAre;
using testing::expectError;
using testing::littleEndian;
using testing::npyDictionary;
using testing::npyFile;
using testing::writeText;

class NpyDataset : public ::testing::Test {
 protected:
  Dataset open() const { return Dataset::npy({{"x", path_}}); }

  void expectRefused(const std::string& file, ErrorCode code, const std::string& cause) const {
    writeText(path_, file);
    expectError([&] { open(); }, code, cause);
    expectError([&] { open(); }, code, path_.string());
  }

  pop::testing::TempDir dir_;
  std::filesystem::path path_ = dir_ / "x.npy";
};

std::string floats(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += littleEndian(static_cast<float>(i) / 2);
  return bytes;
}

TEST_F(NpyDataset, ReadsAllVersions) {
  for (const int version : {1, 2, 3}) {
    writeText(path_, npyFile(npyDictionary("<f4", "(3, 2)"), floats(6), version));
    const Dataset dataset = open();
    ASSERT_EQ(dataset.size(), 3U);
    EXPECT_EQ(textOf(dataset.spec()), "x: float [2]");
    Tensors element(dataset.spec());
    ASSERT_TRUE(dataset.read(0, 2, element));
    EXPECT_THAT(element.get<float>("x"), ElementsAre(2.0F, 2.5F));
    EXPECT_FALSE(dataset.read(0, 3, element));
  }
}

TEST_F(NpyDataset, ReadsEveryType) {
  const std::pair<const char*, Type> types[] = {
      {"|b1", Type::kBool},   {"|i1", Type::kInt8},  {"|u1", Type::kUint8},  {"<i2", Type::kInt16},
      {"<u2", Type::kUint16}, {"<i4", Type::kInt32}, {"<u4", Type::kUint32}, {"<i8", Type::kInt64},
      {"<u8", Type::kUint64}, {"<f2", Type::kHalf},  {"<f4", Type::kFloat},  {"<f8", Type::kDouble}};
  for (const auto& [code, type] : types) {
    writeText(path_, npyFile(npyDictionary(code, "(2,)"), std::string(2 * sizeOf(type), '\1')));
    EXPECT_EQ(open().spec(), (Spec{{"x", type, {}}})) << code;
  }
}

TEST_F(NpyDataset, BytesThatAreNoBoolAreTrue) {
  writeText(path_, npyFile(npyDictionary("|b1", "(3,)"), std::string("\0\1\7", 3)));
  const Dataset dataset = open();
  Tensors element(dataset.spec());
  std::vector<int> values;
  for (std::uint64_t i = 0; dataset.read(0, i, element); ++i)
    values.push_back(std::to_integer<int>(element.at(0).bytes()[0]));
  EXPECT_THAT(values, ElementsAre(0, 1, 1));
}

TEST_F(NpyDataset, ReadsGzipAndSeveralFilesTogether) {
  const std::string file = npyFile(npyDictionary("<f4", "(3, 2)"), floats(6));
  testing::writeGzip(path_, testing::Bytes(file.begin(), file.end()));
  writeText(dir_ / "y.npy", npyFile("{\"shape\": (3L,), 'fortran_order': False, 'descr': '|u1'}", "abc"));
  const Dataset dataset = Dataset::npy({{"x", path_}, {"y", dir_ / "y.npy"}});
  Tensors element(dataset.spec());
  ASSERT_TRUE(dataset.read(0, 1, element));
  EXPECT_THAT(element.get<float>("x"), ElementsAre(1.0F, 1.5F));
  EXPECT_THAT(element.get<std::uint8_t>("y"), ElementsAre('b'));
}

TEST_F(NpyDataset, TheOrderOfOneDimensionSaysNothing) {
  for (const std::string shape : {"(4,)", "(4, 1)", "(4, 1, 1)"}) {
    writeText(path_, npyFile(npyDictionary("<f4", shape, "True"), floats(4)));
    const Dataset dataset = Dataset::npy({{"x", path_}});
    Tensors element(dataset.spec());
    ASSERT_TRUE(dataset.read(0, 3, element)) << shape;
    EXPECT_THAT(element.get<float>("x"), ElementsAre(1.5F)) << shape;
  }
  for (const std::string shape : {"(1, 4)", "(1, 1, 4, 1)"}) {
    writeText(path_, npyFile(npyDictionary("<f4", shape, "True"), floats(4)));
    const Dataset dataset = Dataset::npy({{"x", path_}});
    Tensors element(dataset.spec());
    ASSERT_TRUE(dataset.read(0, 0, element)) << shape;
    EXPECT_THAT(element.get<float>("x"), ElementsAre(0.0F, 0.5F, 1.0F, 1.5F)) << shape;
  }
}

TEST_F(NpyDataset, RefusesOrdersAndTypesByName) {
  const auto refuse = [&](const std::string& dictionary, const std::string& cause) {
    expectRefused(npyFile(dictionary, floats(6)), ErrorCode::kInvalidArgument, cause);
  };
  refuse(npyDictionary("<i8", "(2, 3)", "True"), "Fortran order");
  refuse(npyDictionary("<i8", "(1, 3, 1, 2)", "True"), "Fortran order");
  refuse(npyDictionary(">i2", "(3,)"), "big-endian elements ('>i2')");
  refuse(npyDictionary("|O", "(1,)"), "Python objects ('|O')");
  refuse(npyDictionary("<U5", "(1,)"), "text ('<U5')");
  refuse(npyDictionary("<V2", "(1,)"), "raw memory");
  refuse(npyDictionary("<c8", "(1,)"), "elements of type '<c8'");
  refuse(npyDictionary("<M8[ns]", "(1,)"), "elements of type '<M8[ns]'");
  refuse(npyDictionary("", "(1,)"), "elements of type ''");
  refuse("{'descr': [('a', '<i4'), ('b', '<f4')], 'fortran_order': False, 'shape': (1,), }", "fields");
  refuse(npyDictionary("<f4", "()"), "a scalar");
  refuse(npyDictionary("<f4", "(3, 0)"), "its dimension 1 is 0");
}

TEST_F(NpyDataset, RefusesWhatIsNoNpyFile) {
  const auto refuse = [&](const std::string& file, const std::string& cause) {
    expectRefused(file, ErrorCode::kInvalidArgument, cause);
  };
  refuse("", "not an .npy file");
  refuse("PK\3\4", "not an .npy file");
  refuse(npyFile(npyDictionary("<f4", "(1,)"), floats(1), 4), "its version is 4");
  refuse(npyFile("[]", ""), "does not begin with {");
  refuse(npyFile("{'descr': '<f4', 'shape': (1,)}", floats(1)), "not all of");
  refuse(npyFile("{'descr': '<f4', 'descr': '<f4'}", floats(1)), "twice");
  refuse(npyFile("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", floats(1)), "no value");
  refuse(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", floats(1)), "no value");
  refuse(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", floats(1)), "no value");
  refuse(npyFile(npyDictionary("<f4", "(1,)") + "; import os", floats(1)), "goes on behind its }");
  refuse(std::string("\x93NUMPY\2\0\xff\xff\xff\x7f", 12), "2147483647 bytes long");
}

TEST_F(NpyDataset, NamesWhatIsMissing) {
  const std::string whole = npyFile(npyDictionary("<f4", "(3, 2)"), floats(6));
  for (const std::size_t bytes : {7U, 9U, 40U, 127U})
    expectRefused(whole.substr(0, bytes), ErrorCode::kDataLoss, "its header is cut");
  expectRefused(whole.substr(0, whole.size() - 1), ErrorCode::kDataLoss,
                "truncated: expected 24 bytes of elements (float [3, 2]), got 23");
  expectRefused(whole + "x", ErrorCode::kInvalidArgument, "trailing bytes");
}

TEST_F(NpyDataset, RefusesSizesThatOverflowOrExceedTheFile) {
  expectRefused(npyFile(npyDictionary("<f8", "(4294967296, 4294967296)"), floats(1)),
                ErrorCode::kInvalidArgument, "exceeds the address space");
  expectRefused(npyFile(npyDictionary("<f8", "(99999999999999999999,)"), floats(1)),
                ErrorCode::kInvalidArgument, "no value for the key 'shape'");
  expectRefused(npyFile(npyDictionary("<f8", "(1099511627776,)"), floats(1)), ErrorCode::kDataLoss,
                "truncated: expected 8796093022208 bytes");
}

TEST_F(NpyDataset, RefusesFilesThatDoNotFitTogether) {
  writeText(path_, npyFile(npyDictionary("<f4", "(3, 2)"), floats(6)));
  writeText(dir_ / "y.npy", npyFile(npyDictionary("<f4", "(2,)"), floats(2)));
  expectError(
      [&] {
        Dataset::npy({{"x", path_}, {"y", dir_ / "y.npy"}});
      },
      ErrorCode::kInvalidArgument, "has 3 elements but");
  expectError([&] { Dataset::npy({}); }, ErrorCode::kInvalidArgument, "no files");
  expectError([&] { Dataset::npy({{"x", path_}, {"x", path_}}); }, ErrorCode::kInvalidArgument, "'x'");
  expectError([&] { Dataset::npy({{"x", dir_.path()}}); }, ErrorCode::kInvalidArgument, "directory");
  expectError([&] { Dataset::npy({{"x", dir_ / "absent"}}); }, ErrorCode::kNotFound, "absent");
}

}  // namespace
}  // namespace popdist::io
