// SPDX-License-Identifier: Apache-2.0
// The public calls of a Pod.
#include "popdist/pod.hpp"

#include <string>
#include <vector>

#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/pod/device/pod_impl.h"
#include "pod/clock/bounds.h"
#include "pod/clock/clock.h"
#include "popdist/error.hpp"

namespace popdist {

using context::throwIfFailed;
using pod::CollectiveKind;

Pod::Pod(Context& context) : impl_(std::make_unique<Impl>(context)) {}
Pod::~Pod() = default;

void Pod::abort(const std::string& why) {
  impl_->abort(why);
}
const std::string& Pod::system() const {
  return impl_->layout().spec.name;
}
int Pod::numReplicas() const {
  return impl_->layout().replicas;
}
int Pod::numLocalReplicas() const {
  return impl_->local_replicas;
}
int Pod::firstReplica() const {
  return impl_->first_replica;
}

void Pod::allReduceSum(std::span<void* const> tensors, std::size_t count, Type type) {
  impl_->sum({tensors, count, type}, {.group = numReplicas(), .count = count, .element_bytes = sizeOf(type)});
}

void Pod::allReduceSum(std::span<float* const> tensors, std::size_t count) {
  const std::vector<void*> untyped(tensors.begin(), tensors.end());
  allReduceSum(untyped, count, Type::kFloat);
}

void Pod::reduceScatterSum(std::span<void* const> tensors, std::size_t count, Type type,
                           std::span<const Part> parts, int replicas_per_group) {
  impl_->sumParts({tensors, count, type}, parts, replicas_per_group);
}

void Pod::allReduce(std::span<const void* const> in, std::span<void* const> out, std::size_t count, Type type,
                    Operator op, const PodCallOptions& options) {
  impl_->collective({CollectiveKind::kAllReduce, in, out, count, type, op, options});
}

void Pod::reduceScatter(std::span<const void* const> in, std::span<void* const> out, std::size_t count,
                        Type type, Operator op, const PodCallOptions& options) {
  impl_->collective({CollectiveKind::kReduceScatter, in, out, count, type, op, options});
}

void Pod::allGather(std::span<const void* const> in, std::span<void* const> out, std::size_t count, Type type,
                    const PodCallOptions& options) {
  impl_->collective({CollectiveKind::kAllGather, in, out, count, type, {}, options});
}

void Pod::allToAll(std::span<const void* const> in, std::span<void* const> out, std::size_t count, Type type,
                   const PodCallOptions& options) {
  impl_->collective({CollectiveKind::kAllToAll, in, out, count, type, {}, options});
}

void Pod::broadcast(std::span<void* const> tensors, std::size_t count, Type type, int root,
                    const PodCallOptions& options) {
  impl_->collective({CollectiveKind::kBroadcast, {}, tensors, count, type, {}, options, root});
}

const PodCollective& Pod::lastCollective() const {
  return impl_->clock.lastCollective();
}

void Pod::advanceCompute(double flops_per_replica) {
  if (!(flops_per_replica >= 0)) {
    throw popdist_error(ErrorCode::kInvalidArgument, "Pod::advanceCompute: flops_per_replica is " +
                                                         std::to_string(flops_per_replica) +
                                                         ", expected 0 or more");
  }
  const auto taken =
      pod::computeTime(impl_->layout().spec, flops_per_replica, impl_->layout().ipus_per_replica);
  if (!taken || !impl_->clock.addCompute(*taken).ok()) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "Pod::advanceCompute: " + std::to_string(flops_per_replica) +
                            " more operations would take the simulated time beyond 53 days");
  }
}

void Pod::advance(SimulatedTime time) {
  throwIfFailed({impl_->clock.addCompute(time)}, "Pod::advance");
}

void Pod::advanceStreaming(SimulatedTime time) {
  throwIfFailed({impl_->clock.addStreaming(time)}, "Pod::advanceStreaming");
}

void Pod::advanceAllGather(std::size_t bytes, int replicas_per_group) {
  throwIfFailed({impl_->checkGroup(replicas_per_group)}, "Pod::advanceAllGather");
  throwIfFailed({impl_->addTime({.kind = CollectiveKind::kAllGather,
                                 .group = replicas_per_group,
                                 .count = bytes,
                                 .element_bytes = 1})},
                "Pod::advanceAllGather");
}

void Pod::advanceAllReduce(std::size_t bytes, int replicas_per_group) {
  throwIfFailed({impl_->checkGroup(replicas_per_group)}, "Pod::advanceAllReduce");
  throwIfFailed({impl_->addTime({.kind = CollectiveKind::kAllReduce,
                                 .group = replicas_per_group,
                                 .count = bytes,
                                 .element_bytes = 1})},
                "Pod::advanceAllReduce");
}

Pod::Overlap::Overlap(Pod& pod) : pod_(pod) {
  pod_.impl_->clock.beginOverlap();
}
Pod::Overlap::~Overlap() {
  pod_.impl_->clock.endOverlap();
}

SimulatedTime Pod::allReduceEstimate(std::size_t bytes) const {
  return pod::allReduceEstimate(impl_->layout(), bytes);
}
const Pod::Times& Pod::times() const {
  return impl_->clock.times();
}
SimulatedTime Pod::time() const {
  return impl_->clock.time();
}
SimulatedTime Pod::collectiveTime() const {
  return impl_->clock.collectiveTime();
}

}  // namespace popdist
