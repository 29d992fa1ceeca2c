// SPDX-License-Identifier: Apache-2.0
// Each optimizer, against the textbook's formula for one element after the other.
#include "popdist/optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "popdist/weight_update.hpp"
#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

// Shorter than a block, one element more than a block, and several.
const Spec kModel{{"a", Type::kFloat, {7}}, {"b", Type::kFloat, {4097}}, {"c", Type::kFloat, {100, 100}}};

double element(std::size_t parameter, std::size_t at, int what) {
  return std::sin(0.37 * static_cast<double>(at) + 1.3 * static_cast<double>(parameter) + 2.1 * what);
}

void set(FlatTensors& tensors, int what) {
  for (std::size_t p = 0; p < kModel.size(); ++p) {
    const auto elements = tensors.refs().get<float>(p);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(element(p, i, what));
  }
}

double norm(std::span<const double> values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

/// A model of doubles, updated by the textbook.
struct Oracle {
  std::vector<std::vector<double>> values, first, second;
  int updates = 0;

  Oracle() {
    for (std::size_t p = 0; p < kModel.size(); ++p) {
      values.emplace_back();
      for (std::size_t i = 0; i < kModel[p].elements(); ++i) values[p].push_back(element(p, i, 0));
      first.emplace_back(values[p].size());
      second.emplace_back(values[p].size());
    }
  }
};

/// update[i] of parameter p from its gradient.
using Formula = std::function<void(Oracle& oracle, std::size_t p, std::vector<double>& update)>;

void follow(const Optimizer& optimizer, const Formula& formula,
            const std::function<void(std::vector<std::vector<double>>&)>& of_all = {}) {
  Context& context = Context::fromEnvironment();
  FlatTensors gradients(context, kModel);
  std::vector<FlatTensors> values;
  values.emplace_back(context, kModel);
  set(values[0], 0);
  WeightUpdate update(context, kModel, kModel, optimizer);
  Oracle oracle;
  for (int step = 1; step <= 5; ++step) {
    set(gradients, step);
    ASSERT_TRUE(update.apply(gradients, values, 0.5));
    std::vector<std::vector<double>> all;
    for (std::size_t p = 0; p < kModel.size(); ++p) {
      all.emplace_back();
      for (std::size_t i = 0; i < kModel[p].elements(); ++i) all[p].push_back(0.5 * element(p, i, step));
    }
    if (of_all) of_all(all);
    ++oracle.updates;
    for (std::size_t p = 0; p < kModel.size(); ++p) {
      formula(oracle, p, all[p]);
      const auto now = values[0].refs().get<float>(p);
      for (std::size_t i = 0; i < now.size(); ++i) {
        oracle.values[p][i] -= all[p][i];
        ASSERT_NEAR(now[i], oracle.values[p][i], 2e-5) << kModel[p].name << '[' << i << "], update " << step;
      }
    }
  }
  EXPECT_EQ(update.updatesDone(), 5U);
}

void scale(std::vector<double>& update, double factor) {
  for (double& each : update) each *= factor;
}

void moments(Oracle& oracle, std::size_t p, std::vector<double>& update, double epsilon) {
  for (std::size_t i = 0; i < update.size(); ++i) {
    double& m = oracle.first[p][i];
    double& v = oracle.second[p][i];
    m = 0.9 * m + 0.1 * update[i];
    v = 0.999 * v + 0.001 * update[i] * update[i];
    update[i] = m / (1 - std::pow(0.9, oracle.updates)) /
                (std::sqrt(v / (1 - std::pow(0.999, oracle.updates))) + epsilon);
  }
}

TEST(Optimizers, Sgd) {
  follow(sgd(piecewise(0.1, {{2, 0.01}})), [](Oracle& oracle, std::size_t, std::vector<double>& update) {
    scale(update, oracle.updates <= 2 ? 0.1 : 0.01);
  });
}

TEST(Optimizers, Momentum) {
  for (const bool nesterov : {false, true}) {
    follow(momentum({.rate = 0.1, .momentum = 0.8, .nesterov = nesterov}),
           [&](Oracle& oracle, std::size_t p, std::vector<double>& update) {
             for (std::size_t i = 0; i < update.size(); ++i) {
               double& velocity = oracle.first[p][i];
               velocity = 0.8 * velocity + update[i];
               update[i] = 0.1 * (nesterov ? update[i] + 0.8 * velocity : velocity);
             }
           });
  }
}

TEST(Optimizers, Adam) {
  follow(adam({.rate = 0.01}), [](Oracle& oracle, std::size_t p, std::vector<double>& update) {
    moments(oracle, p, update, 1e-8);
    scale(update, 0.01);
  });
}

TEST(Optimizers, AdamW) {
  follow(adamw({.rate = 0.01, .weight_decay = 0.1}),
         [](Oracle& oracle, std::size_t p, std::vector<double>& update) {
           moments(oracle, p, update, 1e-8);
           for (std::size_t i = 0; i < update.size(); ++i) update[i] += 0.1 * oracle.values[p][i];
           scale(update, 0.01);
         });
}

TEST(Optimizers, Lamb) {
  follow(lamb({.rate = 0.01, .epsilon = 1e-6, .weight_decay = 0.1}),
         [](Oracle& oracle, std::size_t p, std::vector<double>& update) {
           moments(oracle, p, update, 1e-6);
           for (std::size_t i = 0; i < update.size(); ++i) update[i] += 0.1 * oracle.values[p][i];
           scale(update, 0.01 * norm(oracle.values[p]) / norm(update));
         });
}

TEST(Optimizers, ClippingByTheNormOfAll) {
  const auto plain = [](Oracle&, std::size_t, std::vector<double>& update) { scale(update, 0.1); };
  follow(chain(clipByGlobalNorm(3), sgd(0.1)), plain, [](std::vector<std::vector<double>>& all) {
    double squares = 0;
    for (const auto& each : all) squares += norm(each) * norm(each);
    ASSERT_GT(std::sqrt(squares), 3);
    for (auto& each : all) scale(each, 3 / std::sqrt(squares));
  });
  follow(chain(clipByGlobalNorm(1e6), sgd(0.1)), plain);
}

TEST(Optimizers, ClippingByValueDecayAndFunctionsOfTheUser) {
  follow(chain(clipByValue(0.2), addDecayedWeights(0.5),
               mapGradients("double",
                            [](const Block& block) {
                              for (float& each : block.update) each *= 2;
                            }),
               sgd(0.1)),
         [](Oracle& oracle, std::size_t p, std::vector<double>& update) {
           for (std::size_t i = 0; i < update.size(); ++i)
             update[i] = 0.2 * (std::clamp(update[i], -0.2, 0.2) + 0.5 * oracle.values[p][i]);
         });
}

TEST(Optimizers, RefuseWhatMakesNoSense) {
  EXPECT_EQ(errorCodeOf([] { adam({.beta1 = 1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { adamw({.weight_decay = -1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { adam({.weight_decay = 0.1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { momentum({.momentum = -0.1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { clipByGlobalNorm(-1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { mapGradients("nothing", {}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { chain(adam({}), adamw({})); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
