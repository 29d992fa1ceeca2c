// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/trial.h"

#include <algorithm>

namespace popdist::algorithms {
namespace {

using plan::Operation;

constexpr Type kType = Type::kFloat;
// Zeros would be cheaper to store than data. No call changes its input, so it stays valid.
constexpr float kValue = 1;

std::size_t blocksOf(Operation operation, int ranks) {
  switch (operation) {
    case Operation::kReduceScatter:
    case Operation::kAllGather:
    case Operation::kAllToAll:
    case Operation::kGather:
    case Operation::kScatter:
      return static_cast<std::size_t>(ranks);
    default:
      return 1;
  }
}

std::size_t countOf(const Task& task, int ranks) {
  if (task.operation == Operation::kBarrier) return 0;
  return std::max<std::size_t>(1, task.bytes / blocksOf(task.operation, ranks) / sizeof(float));
}

}  // namespace

Trial::Trial(Context& context, const Task& task)
    : operation_(task.operation),
      count_(countOf(task, context.numInstances())),
      elements_(count_ * blocksOf(task.operation, context.numInstances())) {
  if (task.memory == Memory::kBuffer) {
    in_ = shared_.emplace(context, 2 * elements_ * sizeof(float)).as<float>();
    std::fill_n(in_, 2 * elements_, kValue);
  } else {
    private_.resize(2 * elements_, kValue);
    in_ = private_.data();
  }
  out_ = in_ + elements_;
}

void Trial::call(Communicator& communicator, int root) const {
  const int rank = communicator.rank();
  const int ranks = communicator.size();
  switch (operation_) {
    case Operation::kAllReduce:
      return communicator.allReduce(in_, out_, count_, kType);
    case Operation::kReduceScatter:
      return communicator.reduceScatter(in_, out_, count_, kType);
    case Operation::kReduce:
      return communicator.reduce(in_, out_, count_, kType, Operator::kSum, root);
    case Operation::kAllGather:
      return communicator.allGather(in_, out_, count_, kType);
    case Operation::kBroadcast:
      return communicator.broadcast(out_, count_, kType, root);
    case Operation::kGather:
      return communicator.gather(in_, out_, count_, kType, root);
    case Operation::kScatter:
      return communicator.scatter(in_, out_, count_, kType, root);
    case Operation::kAllToAll:
      return communicator.allToAll(in_, out_, count_, kType);
    case Operation::kBarrier:
      return communicator.barrier();
    case Operation::kSendRecv:
      return communicator.sendRecv(in_, count_, (rank + 1) % ranks, out_, count_, (rank + ranks - 1) % ranks,
                                   kType);
  }
}

}  // namespace popdist::algorithms
