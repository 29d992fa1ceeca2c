// SPDX-License-Identifier: Apache-2.0
// Damaged files of other programs (.npy, CSV, TFRecord, tf.train.Example, tar): whatever the bytes, the
// answer is an error with words or elements of the tensors that were asked for. Sanitizers see what is read
// beyond a mapping. Seeded, so that a failure comes back; the message names its round.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "common/base/random.h"
#include "popdist/error.hpp"
#include "popdist/io.hpp"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/data_files.h"

namespace popdist::io {
namespace {

using testing::npyDictionary;
using testing::npyFile;
using testing::protoBytes;
using testing::tarFile;
using testing::tfRecord;

constexpr int kDataFilesRounds = 500;

/// One or several small changes, most of them within the first `reach` bytes.
void damage(std::string& bytes, pop::SplitMix64& random, std::size_t reach) {
  constexpr std::string_view kNasty[] = {"0",  "-1", "18446744073709551615", "4294967296", ",",    "\"",
                                         "\n", "(",  "\xff\xff\xff\xff\xff", "\x80",       "\r\n", ""};
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random.below(random.below(4) == 0 ? bytes.size() : std::min(bytes.size(), reach));
    switch (random.below(5)) {
      case 0:
        bytes.resize(random.below(bytes.size()));
        break;
      case 1:
        bytes.replace(at, 1 + random.below(3), kNasty[random.below(std::size(kNasty))]);
        break;
      case 2:
        bytes.append(1 + random.below(40), static_cast<char>(random.next()));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    }
  }
}

class DataFilesFuzz : public ::testing::Test {
 protected:
  /// Damages `valid` again and again. Some files must be accepted and some refused, else the damage is too
  /// weak or too strong.
  void expectErrorsOrElements(const std::string& valid, std::size_t reach,
                              const std::function<Dataset(const std::filesystem::path&)>& open,
                              const std::function<void(std::string&)>& repair = nullptr) {
    pop::SplitMix64 random(20261126);
    int accepted = 0;
    int refused = 0;
    for (int round = 0; round < kDataFilesRounds; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      std::string bytes = valid;
      if (random.below(8) != 0) damage(bytes, random, reach);
      if (repair) repair(bytes);
      testing::writeText(path_, bytes);
      try {
        const Dataset dataset = open(path_);
        Tensors element(dataset.spec());
        std::uint64_t index = 0;
        while (dataset.read(0, index, element)) ++index;
        ASSERT_EQ(index, dataset.size());
        ++accepted;
      } catch (const popdist_error& error) {
        ASSERT_NE(std::string(error.what()), "");
        ASSERT_NE(error.code(), ErrorCode::kUnknown);
        ++refused;
      }
    }
    EXPECT_GT(accepted, kDataFilesRounds / 50);
    EXPECT_GT(refused, kDataFilesRounds / 50);
  }

  const pop::testing::TempDir dir_;
  const std::filesystem::path path_ = dir_ / "data";
};

TEST_F(DataFilesFuzz, Npy) {
  expectErrorsOrElements(npyFile(npyDictionary("<f4", "(3, 2)"), std::string(24, 'x')), 80,
                         [](const auto& path) {
                           return Dataset::npy({{"x", path}});
                         });
}

TEST_F(DataFilesFuzz, Csv) {
  expectErrorsOrElements("a,\"b\",c\n1,2.5,\"3\"\r\n4,\"5e1\",6\n7,8,9\n", 40, [](const auto& path) {
    return Dataset::csv(path, {.tensors = {{"x", {"a", "c"}}, {"y", {"b"}, Type::kHalf}}});
  });
}

TEST_F(DataFilesFuzz, TfRecords) {
  expectErrorsOrElements(tfRecord("abcd") + tfRecord("efgh") + tfRecord("ijkl"), 60, [](const auto& path) {
    return Dataset::tfRecords({path}, {{"x", Type::kUint8, {4}}});
  });
}

TEST_F(DataFilesFuzz, TfExamples) {
  const std::string example =
      testing::example(testing::feature("x", 2, protoBytes(1, std::string(8, 'f'))) +
                       testing::feature("n", 3, protoBytes(1, testing::varint(UINT64_MAX))) +
                       testing::feature("s", 1, protoBytes(1, "ab") + protoBytes(1, "cd")));
  expectErrorsOrElements(
      example, example.size(),
      [](const auto& path) {
        return Dataset::tfExamples(
            {path}, {{"x", Type::kFloat, {2}}, {"n", Type::kInt64, {}}, {"s", Type::kUint8, {2, 2}}});
      },
      [](std::string& bytes) { bytes = tfRecord(bytes); });
}

TEST_F(DataFilesFuzz, Tar) {
  const auto open = [](const auto& path) {
    return Dataset::tar({path}, {{"img", Type::kUint8, {4}}, {"cls", Type::kUint8, {}}});
  };
  const std::string whole = tarFile("x", "16 path=a/0.img\n", 'x') + tarFile("0.img", "abcd") +
                            tarFile("a/0.cls", "1") + testing::tarEnd();
  expectErrorsOrElements(whole, 512, open);
  // With checksums that are right again, so that more than they is looked at.
  expectErrorsOrElements(whole, 1536, open, [](std::string& bytes) {
    for (std::size_t at = 0; at + 512 <= bytes.size() && at < 2048; at += 1024)
      bytes.replace(at, 512, testing::withTarChecksum(bytes.substr(at, 512)));
  });
}

}  // namespace
}  // namespace popdist::io
