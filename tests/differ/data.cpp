// SPDX-License-Identifier: Apache-2.0
// Data that trainers are fed with.
#include <utility>

#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/differ/training.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;
using regression::samples;

/// run() with the infeed that `make` gives.
template <typename Make>
std::function<Call(Context&)> fed(Make make) {
  return on<StepTraining>([make](StepTraining& t, bool differs) {
    io::Infeed infeed = make(t, differs);
    t.trainer.run(infeed, 2);
  });
}

io::Infeed dealt(const StepTraining& t, io::Dataset data) {
  return io::Infeed(std::move(data).forReplicas(io::InputContext::of(t.context)));
}

/// Half as many as samples().
io::Dataset half() {
  constexpr std::size_t kHalf = regression::kSamples / 2;
  return io::Dataset::fromSlices(Tensors(Tensor({"x", Type::kFloat, {kHalf, regression::kInputs}}),
                                         Tensor({"y", Type::kFloat, {kHalf}})));
}

io::Dataset generated(std::uint64_t elements) {
  return io::Dataset::fromGenerator(samples().spec(), [elements](std::uint64_t) {
    return [left = elements](TensorRefs) mutable { return left-- > 0; };
  });
}

Rows sizesAndSeeds() {
  const std::string kShared = "the data that instances share";
  return {
      {"Trainer.run",
       "micro-batch",
       "2 rows",
       "4 rows",
       {"micro-batch", "2", "4"},
       fed([](StepTraining& t, bool differs) { return t.feed(differs ? 4 : 2, 1); })},
      {"Trainer.run",
       "seed of the data",
       "1",
       "2",
       {kShared, "shuffle(1)", "shuffle(2)"},
       fed([](StepTraining& t, bool differs) { return t.feed(2, differs ? 2 : 1); })},
      {"Trainer.run",
       "elements of the data",
       "96",
       "48",
       {kShared, "take(48)"},
       fed([](StepTraining& t, bool differs) { return t.feed(2, 1, differs ? 48 : 96); })},
      {"Trainer.run", "elements of the source", "96", "48", {kShared}, fed([](StepTraining& t, bool differs) {
         return dealt(t, differs ? half().batch(2) : samples().batch(2));
       })},
      {"Trainer.run",
       "kind of the source",
       "slices",
       "a generator",
       {kShared},
       fed([](StepTraining& t, bool differs) {
         return dealt(t, (differs ? generated(96) : samples()).batch(2));
       })},
      {"Trainer.run",
       "shuffleBuffered",
       "8 elements",
       "16 elements",
       {kShared, "8", "16"},
       fed([](StepTraining& t, bool differs) {
         return dealt(t, generated(96).shuffleBuffered(differs ? 16 : 8, 1).batch(2));
       })},
  };
}

Rows steps() {
  const std::string kShared = "the data that instances share";
  return {
      {"Trainer.run",
       "Remainder",
       "kDrop",
       "kPadWithWeights",
       {"micro-batch", "weight"},
       fed([](StepTraining& t, bool differs) {
         return dealt(t, samples().batch(2, differs ? io::Remainder::kPadWithWeights : io::Remainder::kDrop));
       })},
      {"Trainer.run", "repeat", "none", "3", {kShared, "repeat(3)"}, fed([](StepTraining& t, bool differs) {
         return dealt(t, differs ? samples().repeat(3).batch(2) : samples().batch(2));
       })},
      {"Trainer.run",
       "shards of the data",
       "2",
       "1",
       {kShared, "shard(2)"},
       fed([](StepTraining&, bool differs) {
         return io::Infeed(samples().shard(differs ? 1 : 2, 0).batch(2));
       })},
      {"Trainer.run", "forReplicas", "yes", "no", {kShared}, fed([](StepTraining& t, bool differs) {
         return differs ? io::Infeed(samples().batch(2)) : dealt(t, samples().batch(2));
       })},
      {"Trainer.run",
       "steps of a pass, without forReplicas()",
       "48",
       "1",
       {"the infeed has no element"},
       fed([](StepTraining&, bool differs) {
         return io::Infeed(samples().take(differs ? 2 : 96).batch(2));
       })},
  };
}

Rows own() {
  return {
      {"Trainer.run",
       "InfeedOptions::replicas",
       "1",
       "2",
       {"the infeed has 2 replicas"},
       fed([](StepTraining&, bool differs) {
         return io::Infeed(samples().batch(2), {.replicas = differs ? 2 : 1});
       })},
      {"Trainer.run", "InfeedOptions::threads", "1", "2", {}, fed([](StepTraining& t, bool differs) {
         return io::Infeed(samples().batch(2).forReplicas(io::InputContext::of(t.context)),
                           {.threads = differs ? 2 : 1});
       })},
      {"Trainer.run",
       "seed of the data, without forReplicas()",
       "1",
       "2",
       {},
       fed([](StepTraining&, bool differs) {
         return io::Infeed(samples().shuffle(differs ? 2 : 1).batch(2));
       })},
      {"Trainer.evaluate",
       "micro-batch",
       "2 rows",
       "4 rows",
       {"micro-batch", "2", "4"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         io::Infeed other = t.feed(differs ? 4 : 2, 1);
         t.trainer.evaluate(other);
       })},
      {"Trainer.evaluate",
       "infeed's pass",
       "has an end",
       "never ends",
       {"the infeed's pass never ends"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         io::Dataset data = samples().batch(2);
         io::Infeed other(differs ? std::move(data).repeat() : std::move(data));
         t.trainer.evaluate(other);
       })},
      {"Trainer.evaluate",
       "micro-batches, without forReplicas()",
       "48",
       "24",
       {},
       on<StepTraining>([](StepTraining& t, bool differs) {
         io::Infeed other(samples().take(differs ? 48 : 96).batch(2));
         t.trainer.evaluate(other);
       })},
  };
}

}  // namespace

Rows dataRows() {
  return joined({sizesAndSeeds(), steps(), own()});
}

}  // namespace popdist::testing
