// SPDX-License-Identifier: Apache-2.0
// A call on one object, while the others call another.
#include <array>

#include "popdist/pod.hpp"
#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/differ/training.h"

namespace popdist::testing {
namespace {

void allReduce(Communicator& all) {
  std::array<float, 5> values{};
  all.allReduce(values);
}

struct TwoCommunicators {
  explicit TwoCommunicators(Context& context)
      : world(context.world()), other(context.createCommunicator({0, 1})) {}
  Communicator& world;
  std::unique_ptr<Communicator> other;
};

struct WithPod {
  explicit WithPod(Context& context) : world(context.world()), pod(context) {}
  Communicator& world;
  Pod pod;
};

Rows besideTrainers() {
  return {
      {"Trainer.run",
       "the call",
       "run",
       "Communicator.allReduce",
       {"Trainer.run", "allReduce (sum of 5 float)"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs)
           allReduce(t.context.world());
         else
           t.trainer.run(t.infeed, 2);
       })},
      {"Trainer.evaluate",
       "the call",
       "evaluate",
       "Communicator.barrier",
       {"Trainer.evaluate", "barrier"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs)
           t.context.world().barrier();
         else
           t.trainer.evaluate(t.infeed);
       })},
      {"Trainer.run",
       "the call before",
       "none",
       "Communicator.allReduce",
       {"Trainer.run", "allReduce (sum of 5 float)"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs) allReduce(t.context.world());
         t.trainer.run(t.infeed, 2);
       })},
      {"Communicator.allReduce",
       "communicator",
       "world()",
       "another",
       {"allReduce (sum of 5 float)", "barrier"},
       on<TwoCommunicators>([](TwoCommunicators& two, bool differs) {
         if (differs)
           two.other->barrier();
         else
           allReduce(two.world);
       })},
  };
}

Rows besideOthers() {
  return {
      {"Pod.allReduceSum",
       "the call",
       "Pod.allReduceSum",
       "Communicator.barrier",
       {"allReduce", "barrier"},
       on<WithPod>([](WithPod& w, bool differs) {
         std::array<float, 5> values{};
         std::array<void*, 1> tensors{values.data()};
         if (differs)
           w.world.barrier();
         else
           w.pod.allReduceSum(tensors, 5, Type::kFloat);
       })},
      {"Trainer.run",
       "the call",
       "run",
       "Context.createCommunicator",
       {"Trainer.run", "communicator"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs)
           t.context.createCommunicator({0, 1});
         else
           t.trainer.run(t.infeed, 2);
       })},
      {"Communicator.barrier",
       "the call",
       "barrier",
       "Context.fence",
       {"barrier", "fence"},
       onContext([](Context& context, bool differs) {
         if (differs)
           context.fence();
         else
           context.world().barrier();
       })},
  };
}

}  // namespace

Rows crossingRows() {
  return joined({besideTrainers(), besideOthers()});
}

}  // namespace popdist::testing
