// SPDX-License-Identifier: Apache-2.0
// The calls that a program of one process gets to be one of several.
#include <cstdio>
#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/popart/session_impl.h"
#include "popdist/cluster_resolver.hpp"

namespace popdist::popart {

void OptimizerValue::set(double value) {
  if (is_const_)
    throwIfError(pop::failedPrecondition("the value is constant: OptimizerValue(value, false) may change"),
                 "OptimizerValue.set");
  *value_ = value;
}

OptimizerValue::operator train::LearningRate() const {
  return train::LearningRate([value = value_](std::uint64_t) { return *value; });
}

}  // namespace popdist::popart

namespace popdist::hvd {
namespace {

pop::Status check(const popart::SessionOptions& options, const popart::SessionOptions& of_session) {
  if (options != of_session)
    return pop::invalidArgument("the options are not those that the session was made with");
  if (options.host_all_reduce) return {};
  return pop::failedPrecondition(
      "SessionOptions::host_all_reduce is off: the session would keep its gradients; turn it on");
}

}  // namespace

std::shared_ptr<Context> init() {
  return train::contextFor();
}

double scaledRate(double rate, const Context& context) {
  return rate * context.numInstances();
}

DistributedOptimizer::DistributedOptimizer(train::Optimizer optimizer, popart::Session& session,
                                           const popart::SessionOptions& options)
    : optimizer_(std::move(optimizer)), session_(session) {
  throwIfError(check(options, session.impl().options()), "DistributedOptimizer");
}

void DistributedOptimizer::insertHostAllReduce() {
  if (session_.impl().isTraining()) return session_.impl().insertHostAllReduce(optimizer_);
  std::fputs("popdist: insertHostAllReduce: an inference session has no gradients: nothing to reduce\n",
             stderr);
}

void broadcastWeights(popart::Session& session, int root_rank) {
  session.impl().broadcastWeights(root_rank);
}

}  // namespace popdist::hvd
