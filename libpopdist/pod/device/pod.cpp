// SPDX-License-Identifier: Apache-2.0
// The replicas of this instance on the emulated Pod: their sums (device_sum.h), and the simulated clock
// (pod_clock.h).
#include "popdist/pod.hpp"

#include <new>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/group/one_caller.h"
#include "libpopdist/pod/device/device_sum.h"
#include "libpopdist/pod/device/job_layout.h"
#include "libpopdist/pod/device/pod_clock.h"
#include "libpopdist/pod/device/replica_map.h"
#include "pod/clock/bounds.h"
#include "pod/clock/clock.h"
#include "pod/system/numbering.h"
#include "pod/system/replica_layout.h"
#include "popdist/error.hpp"

namespace popdist {
namespace {

using context::throwIfFailed;

}  // namespace

class Pod::Impl {
 public:
  explicit Impl(Context& context)
      : layout(pod::layoutOf(context)),
        first_replica(context.replicaIndexOffset()),
        local_replicas(context.numLocalReplicas()),
        clock(layout),
        instances_(context.numInstances()),
        sum_(pod::makeDeviceSum(context, layout)) {}

  void allReduce(std::span<void* const> tensors, std::size_t count, Type type) {
    run({tensors, count, type});
    clock.addCollective(pod::CollectiveKind::kAllReduce, layout.replicas, count, sizeOf(type));
  }

  void reduceScatter(std::span<void* const> tensors, std::size_t count, Type type,
                     std::span<const Part> parts, int group) {
    parts_.clear();
    for (const Part& part : parts) parts_.push_back({part.begin, part.count});
    const pop::Status status = checkParts(count, group);
    if (!status.ok()) sum_->refuse(plan::kDeviceReduceScatter, status);
    run({tensors, count, type, parts_});
    if (group == 1)
      clock.addCollective(pod::CollectiveKind::kAllReduce, layout.replicas, count, sizeOf(type));
    else
      clock.addCollective(pod::CollectiveKind::kReduceScatter, group, count, sizeOf(type));
  }

  void abort(const std::string& why) {
    try {
      sum_->abort(plan::kDeviceAllReduce, {pop::Code::kAborted, why});
    } catch (const popdist_error&) {  // is for the others
    }
  }

  pop::Status checkGroup(int group) const {
    if (group >= 1 && layout.replicas % group == 0) return {};
    return pop::invalidArgument("replicas_per_group is " + std::to_string(group) +
                                ", which does not divide the job's " +
                                pop::counted(layout.replicas, "replica"));
  }

  const pod::ReplicaLayout layout;
  const int first_replica;
  const int local_replicas;
  pod::PodClock clock;

 private:
  struct Inside {
    Inside(Impl& pod, const pod::DeviceTensors& tensors) : caller(pod.caller_) {
      if (!caller.enter()) pod.sum_->refuse(tensors.operation(), group::OneCaller::refusal());
    }
    ~Inside() { caller.leave(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    group::OneCaller& caller;
  };

  void run(const pod::DeviceTensors& tensors) try {
    const pop::Status status = check(tensors);
    if (!status.ok()) sum_->refuse(tensors.operation(), status);
    const Inside inside(*this, tensors);
    sum_->run(tensors);
    if (caller_.hadSecond()) sum_->abort(tensors.operation(), group::OneCaller::refusal());
  } catch (const std::bad_alloc&) {
    sum_->abort(tensors.operation(), {pop::Code::kResourceExhausted, "out of memory"});
  }

  pop::Status check(const pod::DeviceTensors& tensors) const {
    if (tensors.local.size() != static_cast<std::size_t>(local_replicas))
      return pop::invalidArgument("expected one tensor for each of the " + std::to_string(local_replicas) +
                                  " local replicas, got " + std::to_string(tensors.local.size()));
    if (!supports(Operator::kSum, tensors.type))
      return pop::invalidArgument(std::string("sum of ") + nameOf(tensors.type) + " is not supported");
    if (tensors.count > group::maxElements(tensors.type))
      return pop::invalidArgument("count exceeds the address space");
    for (void* tensor : tensors.local) {
      if (tensor == nullptr && tensors.count > 0) return pop::invalidArgument("a tensor is a null pointer");
    }
    return {};
  }

  pop::Status checkParts(std::size_t count, int group) const {
    POP_RETURN_IF_ERROR(checkGroup(group));
    if (parts_.size() != static_cast<std::size_t>(instances_))
      return pop::invalidArgument("expected a part for each of the " + pop::counted(instances_, "instance") +
                                  ", got " + std::to_string(parts_.size()));
    for (const plan::Range& part : parts_) {
      if (part.begin > count || part.count > count - part.begin)
        return pop::invalidArgument("a part has " + std::to_string(part.count) + " elements from " +
                                    std::to_string(part.begin) + " on, and there are " +
                                    std::to_string(count));
      for (const plan::Range& other : parts_) {
        const bool same = part.begin == other.begin && part.count == other.count;
        const bool apart = part.begin + part.count <= other.begin || other.begin + other.count <= part.begin;
        if (!same && !apart && part.count > 0 && other.count > 0)
          return pop::invalidArgument("parts that begin at " + std::to_string(part.begin) + " and " +
                                      std::to_string(other.begin) +
                                      " have elements in common, and are not the same");
      }
    }
    return {};
  }

  const int instances_;
  const std::unique_ptr<pod::DeviceSum> sum_;
  std::vector<plan::Range> parts_;  ///< the call's in progress
  group::OneCaller caller_;
};

Pod::Pod(Context& context) : impl_(std::make_unique<Impl>(context)) {}
Pod::~Pod() = default;

void Pod::abort(const std::string& why) {
  impl_->abort(why);
}
const std::string& Pod::system() const {
  return impl_->layout.spec.name;
}
int Pod::numReplicas() const {
  return impl_->layout.replicas;
}
int Pod::numLocalReplicas() const {
  return impl_->local_replicas;
}
int Pod::firstReplica() const {
  return impl_->first_replica;
}

void Pod::allReduceSum(std::span<void* const> tensors, std::size_t count, Type type) {
  impl_->allReduce(tensors, count, type);
}

void Pod::allReduceSum(std::span<float* const> tensors, std::size_t count) {
  const std::vector<void*> untyped(tensors.begin(), tensors.end());
  impl_->allReduce(untyped, count, Type::kFloat);
}

void Pod::reduceScatterSum(std::span<void* const> tensors, std::size_t count, Type type,
                           std::span<const Part> parts, int replicas_per_group) {
  impl_->reduceScatter(tensors, count, type, parts, replicas_per_group);
}

void Pod::advanceCompute(double flops_per_replica) {
  if (!(flops_per_replica >= 0)) {
    throw popdist_error(ErrorCode::kInvalidArgument, "Pod::advanceCompute: flops_per_replica is " +
                                                         std::to_string(flops_per_replica) +
                                                         ", expected 0 or more");
  }
  const auto taken = pod::computeTime(impl_->layout.spec, flops_per_replica, impl_->layout.ipus_per_replica);
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
  impl_->clock.addCollective(pod::CollectiveKind::kAllGather, replicas_per_group, bytes, 1);
}

void Pod::advanceAllReduce(std::size_t bytes, int replicas_per_group) {
  throwIfFailed({impl_->checkGroup(replicas_per_group)}, "Pod::advanceAllReduce");
  impl_->clock.addCollective(pod::CollectiveKind::kAllReduce, replicas_per_group, bytes, 1);
}

SimulatedTime Pod::allReduceEstimate(std::size_t bytes) const {
  return pod::allReduceEstimate(impl_->layout, bytes);
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
