// SPDX-License-Identifier: Apache-2.0
// What all strategies share, and their names.
#include "popdist/strategy.hpp"

#include <algorithm>
#include <string>

#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"

namespace popdist::train {

void Strategy::broadcast(std::span<FlatTensors> values) {
  FlatTensors& first = values.front();
  context_->world().broadcast(first.bytes().data(), first.bytes().size(), Type::kUint8, 0);
  for (FlatTensors& other : values.subspan(1))
    std::copy(first.bytes().begin(), first.bytes().end(), other.bytes().begin());
}

void Strategy::load(const FlatTensors& host, std::span<FlatTensors> replicas) {
  for (FlatTensors& each : replicas)
    std::copy(host.bytes().begin(), host.bytes().end(), each.bytes().begin());
}

void Strategy::reduce(std::span<double> values, Operator op) {
  if (!values.empty()) context_->world().allReduce(values, op);
}

std::unique_ptr<Strategy> strategyNamed(std::string_view name, Context& context) {
  if (name == "popdist") return std::make_unique<PopDistStrategy>(context);
  if (name == "multiworker") return std::make_unique<IpuMultiWorkerStrategy>(context);
  if (name == "horovod") return std::make_unique<IpuHorovodStrategy>(context);
  if (name == "hpu") return std::make_unique<HpuStrategy>(context);
  if (name == "single") return std::make_unique<SingleStrategy>(context);
  throw popdist_error(ErrorCode::kInvalidArgument,
                      "strategyNamed: there is no strategy " + pop::inQuotes(name) +
                          ", expected popdist, multiworker, horovod, hpu or single");
}

}  // namespace popdist::train
