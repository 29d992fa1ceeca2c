// SPDX-License-Identifier: Apache-2.0
#include "tests/differ/circles.h"

#include <array>
#include <cstddef>
#include <memory>

#include "popdist/communicator.hpp"

namespace popdist::testing {
namespace {

/// The call of the communicator that instance `first` has with the next one.
void callOn(Communicator& two, int first) {
  std::array<float, 10> values{};
  switch (first % 4) {
    case 0:
      two.allReduce(values.data(), values.data(), 5, Type::kFloat, Operator::kSum);
      return;
    case 1:
      two.barrier();
      return;
    case 2:
      two.allGather(values.data() + 5, values.data(), 2, Type::kFloat);
      return;
    default:
      two.reduceScatter(values.data() + 5, values.data(), 2, Type::kFloat, Operator::kMax);
      return;
  }
}

/// Each with the next one; none for those without this instance.
std::vector<std::unique_ptr<Communicator>> makePairs(Context& context) {
  std::vector<std::unique_ptr<Communicator>> pairs;
  const auto instances = static_cast<unsigned>(context.numInstances());
  for (unsigned first = 0; first < instances; ++first)
    pairs.push_back(context.createCommunicator({first, (first + 1) % instances}));
  return pairs;
}

}  // namespace

void callInCircle(Context& context, const Circle& circle) {
  const auto pairs = makePairs(context);
  for (int i = 0; i < circle.equal_calls; ++i)
    for (std::size_t first = 0; first < pairs.size(); ++first)
      if (pairs[first]) callOn(*pairs[first], static_cast<int>(first));
  context.fence();
  const int own = context.instanceIndex();
  if (circle.has_fence && own == 0)
    context.fence();
  else
    callOn(*pairs[static_cast<std::size_t>(own)], own);
}

std::vector<std::string> callsInCircle(int instances) {
  std::vector<std::string> calls{"allReduce (sum of 5 float)", "barrier", "allGather (2 float",
                                 "reduceScatter (max of"};
  calls.resize(static_cast<std::size_t>(instances));
  for (std::size_t first = 0; first < calls.size(); ++first)
    calls[first] = "instance " + std::to_string(first) + (first == 0 ? " is in " : " in ") + calls[first];
  return calls;
}

}  // namespace popdist::testing
