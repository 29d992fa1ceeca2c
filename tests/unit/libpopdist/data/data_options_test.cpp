// SPDX-License-Identifier: Apache-2.0
// Generated and synthetic data: what the environment says, and what infeeds and outfeeds do then.
#include "popdist/data_options.hpp"

#include <cstdlib>
#include <numeric>

#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

using testing::counting;
using testing::expectError;

class DataOptionsTest : public ::testing::Test {
 protected:
  ~DataOptionsTest() override {
    for (const char* name : {"POPDIST_DATA", "POPDIST_SYNTHETIC_INITIALIZER", "POPDIST_SYNTHETIC_CATEGORIES"})
      ::unsetenv(name);
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
};

TEST_F(DataOptionsTest, RealWithoutAWord) {
  EXPECT_EQ(DataOptions::fromEnvironment().kind, DataKind::kReal);
}

TEST_F(DataOptionsTest, ReadsTheVariables) {
  set("POPDIST_DATA", "synthetic");
  set("POPDIST_SYNTHETIC_INITIALIZER", "2.5");
  set("POPDIST_SYNTHETIC_CATEGORIES", "outfeed");
  const DataOptions options = DataOptions::fromEnvironment();
  EXPECT_EQ(options.kind, DataKind::kSynthetic);
  EXPECT_EQ(options.initialiser.kind, Initialiser::Kind::kConstant);
  EXPECT_EQ(options.initialiser.value, 2.5);
  EXPECT_FALSE(options.infeeds);
  EXPECT_TRUE(options.outfeeds);
}

TEST_F(DataOptionsTest, NamesTheVariableThatIsWrong) {
  const auto expectWrong = [](const std::string& message) {
    expectError([] { DataOptions::fromEnvironment(); }, ErrorCode::kInvalidArgument, message);
  };
  set("POPDIST_DATA", "fake");
  expectWrong("POPDIST_DATA is 'fake', expected real, generated or synthetic");
  set("POPDIST_DATA", "real");
  set("POPDIST_SYNTHETIC_INITIALIZER", "normal");
  expectWrong("POPDIST_SYNTHETIC_INITIALIZER is set, but the data is real");
  set("POPDIST_DATA", "generated");
  set("POPDIST_SYNTHETIC_INITIALIZER", "nan");
  expectWrong("POPDIST_SYNTHETIC_INITIALIZER is 'nan'");
  set("POPDIST_SYNTHETIC_INITIALIZER", "1");
  set("POPDIST_SYNTHETIC_CATEGORIES", "infeed,seed");
  expectWrong("POPDIST_SYNTHETIC_CATEGORIES is 'infeed,seed'");
}

TEST(Initialise, FillsEveryType) {
  Tensors tensors(
      {{"a", Type::kUint8, {2}}, {"b", Type::kHalf, {2}}, {"c", Type::kInt64, {2}}, {"d", Type::kBool, {2}}});
  initialise(tensors.refs(), {Initialiser::Kind::kConstant, 300.75}, 0);
  EXPECT_EQ(tensors.get<std::uint8_t>("a")[1], 255) << "the nearest that there is";
  EXPECT_EQ(static_cast<float>(tensors.get<half>("b")[1]), 300.75F);
  EXPECT_EQ(tensors.get<std::int64_t>("c")[1], 300);
  EXPECT_TRUE(tensors.get<bool>("d")[1]);
  initialise(tensors.refs(), {Initialiser::Kind::kConstant, -1e300}, 0);
  EXPECT_EQ(tensors.get<std::int64_t>("c")[0], std::numeric_limits<std::int64_t>::lowest());
}

TEST(Initialise, NormalHasMeanZeroAndDeviationOne) {
  Tensors tensors({{"x", Type::kDouble, {100'000}}});
  initialise(tensors.refs(), {Initialiser::Kind::kNormal}, 5);
  double sum = 0;
  double squares = 0;
  for (const double x : tensors.get<double>("x")) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.015);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Initialise, UniformLiesInZeroToOne) {
  Tensors tensors({{"x", Type::kFloat, {10'000}}});
  initialise(tensors.refs(), {Initialiser::Kind::kUniform}, 5);
  const auto x = tensors.get<float>("x");
  EXPECT_GE(*std::min_element(x.begin(), x.end()), 0.0F);
  EXPECT_LE(*std::max_element(x.begin(), x.end()), 1.0F);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0) / 1e4, 0.5, 0.02);
}

TEST(SyntheticData, NothingIsReadAndNothingCrosses) {
  std::atomic<int> reads = 0;
  Infeed infeed(
      counting(10, [&](std::uint64_t) { ++reads; }).batch(2),
      {.data = DataOptions{.kind = DataKind::kSynthetic, .initialiser = {Initialiser::Kind::kConstant, 3}}});
  int steps = 0;
  while (const Tensors* batch = infeed.next()) {
    EXPECT_EQ(batch->get<float>("x")[3], 3.0F);
    ++steps;
  }
  EXPECT_EQ(steps, 5) << "as many as there are";
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(infeed.bytesFed(), 0U);
  EXPECT_EQ(infeed.position().step, 5U);
}

TEST(GeneratedData, CrossesAndNothingIsRead) {
  std::atomic<int> reads = 0;
  Infeed infeed(
      counting(10, [&](std::uint64_t) { ++reads; }).batch(2),
      {.data = DataOptions{.kind = DataKind::kGenerated, .initialiser = {Initialiser::Kind::kNormal}}});
  while (infeed.next() != nullptr) {
  }
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(infeed.bytesFed(), 10U * 12);
}

TEST(SyntheticData, OutfeedsGiveEmptyArraysOrNoLatest) {
  const DataOptions synthetic{.kind = DataKind::kSynthetic};
  Outfeed all({.replicas = 2, .data = synthetic});
  for (int i = 0; i < 10; ++i) all.enqueue("loss", 1.0F, i % 2);
  EXPECT_EQ(all.dequeue().spec()[0].shape, (Shape{0, 2}));
  EXPECT_EQ(all.bytesTaken(), 0U);
  Outfeed last({.mode = OutfeedMode::kLast, .data = synthetic});
  last.enqueue("loss", 1.0F);
  expectError([&] { last.dequeue(); }, ErrorCode::kFailedPrecondition, "synthetic");
}

}  // namespace
}  // namespace popdist::io
