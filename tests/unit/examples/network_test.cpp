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
    network_.initialise(parameters_, 3);
  }

  LabelledSamples samples(std::size_t first = 0, std::size_t count = kSamples) const {
    return {.features = std::span(features_).subspan(first * shape_.inputs(), count * shape_.inputs()),
            .labels = std::span(labels_).subspan(first, count)};
  }

  double lossWith(std::size_t parameter, float change) {
    std::vector<float> moved = parameters_;
    moved[parameter] += change;
    return network_.evaluate(moved, samples()).loss_sum;
  }

  const NetworkShape shape_ = smaller(GetParam());
  Network network_{shape_, bestIsa()};
  std::vector<float> features_ = randomFloats(kSamples * shape_.inputs(), 1);
  const std::vector<std::int32_t> labels_{0, 9, 3, 3, 5, 1};
  std::vector<float> parameters_ = std::vector<float>(network_.parameterCount());
};

// A step may carry a ReLU or a maximum over its edge: then its difference is no gradient, so some may miss.
TEST_P(Networks, GradientsAreDifferencesOfLosses) {
  constexpr float kStep = 1e-2F;
  std::vector<float> gradient(parameters_.size());
  network_.accumulateGradient(parameters_, samples(), gradient);
  std::size_t checked = 0;
  std::size_t missed = 0;
  const std::size_t stride = std::max<std::size_t>(1, parameters_.size() / 500);
  for (std::size_t i = 0; i < parameters_.size(); i += stride, ++checked) {
    const double difference = (lossWith(i, kStep) - lossWith(i, -kStep)) / (2.0 * kStep);
    if (std::abs(difference - gradient[i]) > 0.02 * std::max(0.5, std::abs(difference))) ++missed;
  }
  EXPECT_LE(missed, checked / 20);
  // The last layer's have no such edge.
  for (std::size_t i = parameters_.size() - shape_.classes(); i < parameters_.size(); ++i) {
    const double difference = (lossWith(i, kStep) - lossWith(i, -kStep)) / (2.0 * kStep);
    EXPECT_NEAR(gradient[i], difference, 1e-3) << i;
  }
}

TEST_P(Networks, AddGradientsOfMicroBatches) {
  std::vector<float> together(parameters_.size());
  const Score all = network_.accumulateGradient(parameters_, samples(), together);
  std::vector<float> added(parameters_.size());
  const Score first = network_.accumulateGradient(parameters_, samples(0, 2), added);
  const Score rest = network_.accumulateGradient(parameters_, samples(2, kSamples - 2), added);
  for (std::size_t i = 0; i < added.size(); ++i) ASSERT_NEAR(added[i], together[i], 1e-4) << i;
  EXPECT_NEAR(first.loss_sum + rest.loss_sum, all.loss_sum, 1e-4);
  EXPECT_EQ(first.correct + rest.correct, all.correct);
}

TEST_P(Networks, GiveTheSameBitsAgain) {
  std::vector<float> once(parameters_.size());
  network_.accumulateGradient(parameters_, samples(), once);
  Network another(shape_, bestIsa());
  network_.evaluate(parameters_, samples(0, 1));
  for (Network* network : {&network_, &another}) {
    std::vector<float> again(parameters_.size());
    network->accumulateGradient(parameters_, samples(), again);
    EXPECT_EQ(again, once);
  }
}

INSTANTIATE_TEST_SUITE_P(Named, Networks, ::testing::Values("mlp", "cnn", "small-cnn"),
                         [](const auto& each) { return each.param.substr(0, each.param.find('-')); });

TEST(Network, HasTheParametersOfItsLayers) {
  const auto count = [](const char* name) {
    return Network(*networkNamed(name), bestIsa()).parameterCount();
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
