// SPDX-License-Identifier: Apache-2.0
// The common part of all strategies, and their names.
#include "popdist/strategy.hpp"

#include <algorithm>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"

namespace popdist::train {
namespace {

constexpr const char* kStrategy = "Strategy";

}  // namespace

Strategy::Strategy(Context& context, std::string_view name, const std::string& options) : context_(&context) {
  internal::prepareOwnCalls(context);
  requireSame(context,
              {{.name = "the strategy", .text = std::string(name)},
               {.name = "the strategy's options", .text = options}},
              kStrategy);
}

void Strategy::broadcast(std::span<FlatTensors> values) {
  FlatTensors& first = values.front();
  requireSame(*context_, {{.name = "the tensors", .text = textOf(first.spec())}}, "Strategy.broadcast");
  internal::ownCommunicator(*context_).broadcast(first.bytes().data(), first.bytes().size(), Type::kUint8, 0);
  for (FlatTensors& other : values.subspan(1))
    std::copy(first.bytes().begin(), first.bytes().end(), other.bytes().begin());
}

void Strategy::load(const FlatTensors& host, std::span<FlatTensors> replicas) {
  for (FlatTensors& each : replicas)
    std::copy(host.bytes().begin(), host.bytes().end(), each.bytes().begin());
}

void Strategy::reduce(std::span<double> values, Operator op) {
  if (!values.empty()) internal::ownCommunicator(*context_).allReduce(values, op);
}

std::unique_ptr<Strategy> strategyNamed(std::string_view name, Context& context) {
  if (name == "popdist") return std::make_unique<PopDistStrategy>(context);
  if (name == "multiworker") return std::make_unique<IpuMultiWorkerStrategy>(context);
  if (name == "horovod") return std::make_unique<IpuHorovodStrategy>(context);
  if (name == "hpu") return std::make_unique<HpuStrategy>(context);
  if (name == "single") return std::make_unique<SingleStrategy>(context);
  const pop::Status wrong = pop::invalidArgument("there is no strategy " + pop::inQuotes(name) +
                                                 ", expected popdist, multiworker, horovod, hpu or single");
  internal::prepareOwnCalls(context);
  requireSound(context, wrong, kStrategy);
  throw popdist_error(ErrorCode::kInvalidArgument, "strategyNamed: " + wrong.message());
}

}  // namespace popdist::train
