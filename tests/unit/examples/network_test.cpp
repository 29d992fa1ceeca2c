// SPDX-License-Identifier: Apache-2.0
// The examples' networks: their gradients beside differences of losses.
#include "examples/fashion_mnist/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/examples/random_floats.h"

namespace {

constexpr std::size_t kSamples = 6;

// Images of 12 x 12, so that a test takes no time.
NetworkShape smaller(const std::string& name) {
  NetworkShape shape = *networkNamed(name);
  shape.height = shape.width = 12;
  return shape;
}

class Networks : public ::testing::TestWithParam<std::string> {
 protected:
  Networks() {
    for (float& feature : features_) feature = std::abs(feature);
    network_.parameters().initialise(parameters_.refs(), 3);
  }

  LabelledSamples samples(std::size_t first = 0, std::size_t count = kSamples) const {
    return {.features = std::span(features_).subspan(first * shape_.inputs(), count * shape_.inputs()),
            .labels = std::span(labels_).subspan(first, count)};
  }

  double lossWith(std::size_t tensor, std::size_t element, float change) {
    popdist::Tensors moved = parameters_.clone();
    moved.get<float>(tensor)[element] += change;
    return network_.evaluate(moved, samples()).loss_sum;
  }

  popdist::Tensors gradientsOf(Network& network, const LabelledSamples& of) {
    popdist::Tensors gradients(parameters_.spec());
    network.accumulateGradients(parameters_, of, 1, gradients.refs());
    return gradients;
  }

  const NetworkShape shape_ = smaller(GetParam());
  Network network_{shape_, bestIsa()};
  std::vector<float> features_ = randomFloats(kSamples * shape_.inputs(), 1);
  const std::vector<std::int32_t> labels_{0, 9, 3, 3, 5, 1};
  popdist::Tensors parameters_ = popdist::Tensors(network_.parameters().spec());
};

// A step may carry a ReLU or a maximum over its edge: then its difference is no gradient, so some may miss;
// fewer with a short step, with which the difference is less exact. The last bias has no such edge.
TEST_P(Networks, GradientsAreDifferencesOfLosses) {
  const popdist::Tensors gradients = gradientsOf(network_, samples());
  std::size_t checked = 0;
  std::size_t missed = 0;
  const std::size_t last = parameters_.size() - 1;
  for (std::size_t tensor = 0; tensor <= last; ++tensor) {
    const float step = tensor == last ? 1e-2F : 2e-3F;
    const auto gradient = gradients.get<float>(tensor);
    for (std::size_t i = 0; i < gradient.size(); i += 1 + gradient.size() / 120, ++checked) {
      const double difference =
          (lossWith(tensor, i, step) - lossWith(tensor, i, -step)) / (2.0 * static_cast<double>(step));
      if (std::abs(difference - gradient[i]) > 0.02 * std::max(0.5, std::abs(difference))) ++missed;
      if (tensor < last) continue;
      EXPECT_NEAR(gradient[i], difference, 1e-3) << i;
    }
  }
  EXPECT_LE(missed, checked / 20);
}

TEST_P(Networks, AddGradientsOfMicroBatchesTimesAFactor) {
  popdist::Tensors together(parameters_.spec());
  const Score all = network_.accumulateGradients(parameters_, samples(), 0.5F, together.refs());
  popdist::Tensors added(parameters_.spec());
  const Score first = network_.accumulateGradients(parameters_, samples(0, 2), 1, added.refs());
  const Score rest = network_.accumulateGradients(parameters_, samples(2, kSamples - 2), 1, added.refs());
  for (std::size_t tensor = 0; tensor < parameters_.size(); ++tensor) {
    for (std::size_t i = 0; i < added.get<float>(tensor).size(); ++i)
      ASSERT_NEAR(0.5F * added.get<float>(tensor)[i], together.get<float>(tensor)[i], 1e-4) << i;
  }
  EXPECT_NEAR(first.loss_sum + rest.loss_sum, all.loss_sum, 1e-4);
  EXPECT_EQ(first.correct + rest.correct, all.correct);
}

TEST_P(Networks, GiveTheSameBitsAgain) {
  const popdist::Tensors once = gradientsOf(network_, samples());
  Network another(shape_, bestIsa());
  network_.evaluate(parameters_, samples(0, 1));
  for (Network* network : {&network_, &another}) {
    const popdist::Tensors again = gradientsOf(*network, samples());
    for (std::size_t tensor = 0; tensor < parameters_.size(); ++tensor)
      EXPECT_TRUE(std::ranges::equal(again.get<float>(tensor), once.get<float>(tensor))) << tensor;
  }
}

INSTANTIATE_TEST_SUITE_P(Named, Networks, ::testing::Values("mlp", "cnn", "small-cnn"),
                         [](const auto& each) { return each.param.substr(0, each.param.find('-')); });

TEST(Network, HasTheParametersOfItsLayers) {
  const auto count = [](const char* name) {
    return Network(*networkNamed(name), bestIsa()).parameters().elements();
  };
  EXPECT_EQ(count("mlp"), 784U * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(count("cnn"), 9U * 16 + 16 + 9 * 16 * 32 + 32 + 49 * 32 * 64 + 64 + 64 * 10 + 10);
  EXPECT_EQ(count("small-cnn"), 9U * 8 + 8 + 169 * 8 * 8 + 8 + 8 * 10 + 10);
}

TEST(Network, RefusesToPoolOddImages) {
  NetworkShape shape = *networkNamed("cnn");
  shape.height = 13;
  EXPECT_THROW(Network(shape, bestIsa()), std::runtime_error);
  EXPECT_FALSE(networkNamed("resnet").has_value());
}

}  // namespace
