// SPDX-License-Identifier: Apache-2.0
// A real dataset, as Debian ships it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "popdist/io.hpp"

namespace popdist::io {
namespace {

TEST(FashionMnist, ReadsTheTrainingSet) {
  const std::filesystem::path dir = "/usr/share/datasets/fashion-mnist";
  const IdxDataset dataset(dir / "train-images-idx3-ubyte.gz", dir / "train-labels-idx1-ubyte.gz");
  ASSERT_EQ(dataset.size(), 60000U);
  EXPECT_THAT(dataset.sampleShape(), ::testing::ElementsAre(28, 28));
  std::array<int, 10> per_class{};
  std::vector<float> features(784);
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    std::int32_t label = -1;
    dataset.read(i, features, label);
    ASSERT_GE(label, 0);
    ASSERT_LT(label, 10);
    ++per_class[static_cast<std::size_t>(label)];
    if (i == 0) {
      EXPECT_EQ(label, 9) << "the first sample is an ankle boot";
    }
  }
  EXPECT_THAT(per_class, ::testing::Each(6000));
}

}  // namespace
}  // namespace popdist::io
