// SPDX-License-Identifier: Apache-2.0
// The benchmarks of datasets and infeeds: their JSON, as Python reads it, and their refusals.
#include "popdist/dataset_benchmark.hpp"

#include <cstdio>
#include <fstream>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

using testing::counting;
using testing::expectError;

/// Python's reading of `json`, one line: epochs, keys, elements and bytes of the first epoch, and whether
/// elements / time and bytes / time agree with what is said of them.
std::string asPythonReadsIt(const std::string& json) {
  const pop::testing::TempDir dir;
  std::ofstream(dir / "result.json") << json;
  std::ofstream(dir / "read.py") << R"(
import json, sys
epochs = json.load(open(sys.argv[1]))["epochs"]
e = epochs[0]
near = lambda a, b: abs(a - b) <= 1e-5 * abs(b)
print(len(epochs), list(e), e["elements_processed"], e["total_bytes_processed"],
      near(e["elements_per_second"], e["elements_processed"] / e["time_elapsed"]),
      near(e["bandwidth"], e["total_bytes_processed"] / (1e9 * e["time_elapsed"])))
)";
  FILE* python =
      ::popen(("python3 " + (dir / "read.py").string() + " " + (dir / "result.json").string()).c_str(), "r");
  std::string said(1024, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), python));
  ::pclose(python);
  return said;
}

const char* const kExpected =
    "2 ['bandwidth', 'elements_per_second', 'elements_processed', 'time_elapsed', 'total_bytes_processed'] "
    "10.0 "
    "480.0 True True\n";

TEST(DatasetBenchmark, GivesOneObjectForEachEpoch) {
  ::testing::internal::CaptureStdout();
  const auto result =
      datasetBenchmark(counting(20).batch(4).repeat(), {.number_of_epochs = 2, .elements_per_epoch = 10});
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 2) << printed;
  ASSERT_EQ(result.size(), 1U);
  EXPECT_EQ(asPythonReadsIt(result[0]), kExpected);
}

TEST(DatasetBenchmark, MeasuresInfeedsLikewise) {
  Infeed infeed(counting(20).batch(4).repeat());
  ::testing::internal::CaptureStdout();
  const auto result = infeedBenchmark(
      infeed, {.number_of_epochs = 2, .elements_per_epoch = 10, .print_stats = false, .do_memcpy = false});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(asPythonReadsIt(result.at(0)), kExpected);
}

TEST(DatasetBenchmark, RefusesLessThanOneAndMoreThanThereIs) {
  expectError([] { datasetBenchmark(counting(5), {.number_of_epochs = 0}); }, ErrorCode::kInvalidArgument,
              "number_of_epochs is 0");
  expectError([] { datasetBenchmark(counting(5), {.elements_per_epoch = -3}); }, ErrorCode::kInvalidArgument,
              "elements_per_epoch is -3");
  expectError([] { datasetBenchmark(counting(5), {.elements_per_epoch = 6, .print_stats = false}); },
              ErrorCode::kOutOfRange, "ends before 1 x 6 elements");
}

}  // namespace
}  // namespace popdist::io
