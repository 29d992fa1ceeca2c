// SPDX-License-Identifier: Apache-2.0
// The data of an evaluation: the rest of a pass that ends.
#include <gtest/gtest.h>

#include <stdexcept>

#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

TEST(Evaluation, RefusesAPassThatNeverEnds) {
  Context& context = Context::fromEnvironment();
  SingleStrategy strategy(context);
  int steps = 0;
  Trainer trainer(
      strategy, regression::parameters(),
      [&](const MicroBatch&) {
        if (++steps > 1000) throw std::runtime_error("goes on for ever");
      },
      sgd(1));
  trainer.initialise(1);
  io::Infeed samples(regression::samples().batch(2).repeat());
  EXPECT_EQ(errorCodeOf([&] { trainer.evaluate(samples); }), ErrorCode::kInvalidArgument);
  io::Infeed generated(
      io::Dataset::fromGenerator({{"x", Type::kFloat, {1}}}, [](std::uint64_t) -> io::Generator {
        return [left = 3](TensorRefs) mutable { return left-- > 0; };
      }).repeat());
  EXPECT_EQ(errorCodeOf([&] { trainer.evaluate(generated); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(steps, 0);
}

TEST(Evaluation, OfAPassThatIsOverTakesNothing) {
  Context& context = Context::fromEnvironment();
  SingleStrategy strategy(context);
  Trainer trainer(
      strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(1));
  trainer.initialise(1);
  io::Infeed infeed(regression::samples().batch(2));
  infeed.start({.step = 1000});
  EXPECT_EQ(trainer.evaluate(infeed).micro_batches, 0U);
}

}  // namespace
}  // namespace popdist::train
