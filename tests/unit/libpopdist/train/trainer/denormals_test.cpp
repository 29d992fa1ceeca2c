// SPDX-License-Identifier: Apache-2.0
// Instances whose arithmetic differs would have different weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "popdist/denormals.hpp"
#include "popdist/error.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

// The message on each of three instances, of which those in `flushing` flush denormals.
std::vector<std::string> heard(std::vector<bool> flushing) {
  std::vector<std::string> messages(flushing.size());
  popdist::testing::ThreadGroup group(static_cast<int>(flushing.size()));
  group.run([&](Context& context) {
    const auto self = static_cast<std::size_t>(context.instanceIndex());
    std::optional<FlushDenormals> flush;
    if (flushing[self]) flush.emplace();
    PopDistStrategy strategy(context);
    Trainer trainer(
        strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(0.1));
    try {
      trainer.initialise(1);
    } catch (const popdist_error& error) {
      messages[self] = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    }
  });
  return messages;
}

TEST(Denormals, AreTreatedAlikeOnAllInstances) {
  if (!FlushDenormals::isSupported()) return;
  using ::testing::AllOf;
  using ::testing::Each;
  using ::testing::HasSubstr;
  EXPECT_THAT(heard({true, false, true}),
              Each(AllOf(HasSubstr("'flushed' on instance 0"), HasSubstr("'kept' on instance 1"),
                         HasSubstr("FlushDenormals"))));
  EXPECT_THAT(heard({false, false, true}),
              Each(AllOf(HasSubstr("'kept' on instance 0"), HasSubstr("'flushed' on instance 2"))));
  for (const bool all : {false, true}) EXPECT_EQ(heard({all, all, all}), std::vector<std::string>(3));
}

}  // namespace
}  // namespace popdist::train
