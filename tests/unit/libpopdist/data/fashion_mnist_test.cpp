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
  const Dataset dataset = Dataset::idx(
      {{"image", dir / "train-images-idx3-ubyte.gz"}, {"label", dir / "train-labels-idx1-ubyte.gz"}});
  ASSERT_EQ(dataset.size(), 60000U);
  EXPECT_THAT(dataset.spec()[0].shape, ::testing::ElementsAre(28, 28));
  std::array<int, 10> per_class{};
  Tensors sample(dataset.spec());
  for (std::uint64_t i = 0; dataset.read(0, i, sample); ++i) {
    const std::uint8_t label = sample.get<std::uint8_t>("label")[0];
    ASSERT_LT(label, 10);
    ++per_class[label];
    if (i == 0) {
      EXPECT_EQ(label, 9) << "the first sample is an ankle boot";
    }
  }
  EXPECT_THAT(per_class, ::testing::Each(6000));
}

}  // namespace
}  // namespace popdist::io
