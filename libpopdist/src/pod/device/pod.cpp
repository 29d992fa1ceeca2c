// SPDX-License-Identifier: Apache-2.0
// The replicas of this instance on the emulated Pod: their sums, and the simulated clock. How the sums come
// about: device_sum.h.
#include "popdist/pod.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "libpopdist/src/api/context_impl.h"
#include "libpopdist/src/pod/device/device_sum.h"
#include "libpopdist/src/pod/device/replica_map.h"
#include "libpopdist/src/pod/model/clock.h"
#include "libpopdist/src/pod/model/gcl/all_reduce.h"
#include "libpopdist/src/pod/model/numbering.h"
#include "libpopdist/src/pod/model/replica_layout.h"
#include "popdist/error.hpp"

namespace popdist {
namespace {

using context::throwIfFailed;

using pod::kAttach;

pod::ReplicaLayout layoutOf(const Context& context) {
  if (context.offline()) {
    throw popdist_error(
        ErrorCode::kFailedPrecondition,
        std::string(kAttach) + ": no Pod is available: poprun was started with --offline-mode");
  }
  const std::int64_t ipus = std::int64_t{context.numTotalReplicas()} * context.numIpusPerReplica();
  pop::Result<pod::PodSpec> spec =
      context.system().empty() ? pod::smallestPodFor(ipus) : pod::podSpecByName(context.system());
  throwIfFailed({spec.status()}, kAttach);
  pod::ReplicaLayout layout{std::move(*spec), context.numTotalReplicas(), context.numIpusPerReplica()};
  throwIfFailed({pod::validate(layout)}, kAttach);
  return layout;
}

}  // namespace

class Pod::Impl {
 public:
  explicit Impl(Context& context)
      : layout(layoutOf(context)),
        first_replica(context.replicaIndexOffset()),
        local_replicas(context.numLocalReplicas()),
        sum_(pod::makeDeviceSum(context, layout)) {}

  void allReduce(std::span<void* const> tensors, std::size_t count, Type type) try {
    check(tensors, count, type);
    sum_->run({tensors, count, type});
    const SimulatedTime simulated = simulatedFor(count, sizeOf(type));
    time += simulated;
    collective_time += simulated;
  } catch (const std::bad_alloc&) {
    sum_->abort({pop::Code::kResourceExhausted, "out of memory"});
  }

  const pod::ReplicaLayout layout;
  const int first_replica;
  const int local_replicas;
  SimulatedTime time{0};
  SimulatedTime collective_time{0};

 private:
  void check(std::span<void* const> tensors, std::size_t count, Type type) const {
    if (tensors.size() != static_cast<std::size_t>(local_replicas)) {
      sum_->refuse(pop::invalidArgument("expected one tensor for each of the " +
                                        std::to_string(local_replicas) + " local replicas, got " +
                                        std::to_string(tensors.size())));
    }
    if (!supports(Operator::kSum, type))
      sum_->refuse(pop::invalidArgument(std::string("sum of ") + nameOf(type) + " is not supported"));
    if (count > group::maxElements(type))
      sum_->refuse(pop::invalidArgument("count exceeds the address space"));
    for (void* tensor : tensors) {
      if (tensor == nullptr && count > 0) sum_->refuse(pop::invalidArgument("a tensor is a null pointer"));
    }
  }

  // Training repeats the same sizes: each is simulated once. What is kept of one is small.
  SimulatedTime simulatedFor(std::size_t count, std::size_t element_bytes) {
    constexpr std::size_t kKeptSizes = 1 << 16;
    const std::pair key(count, element_bytes);
    if (const auto kept = simulated_.find(key); kept != simulated_.end()) return kept->second;
    std::vector<plan::Plan> everybody;
    for (int replica = 0; replica < layout.replicas; ++replica)
      everybody.push_back(pod::gcl::planDeviceAllReduce(layout, replica, count));
    const SimulatedTime simulated = pod::simulate(layout, everybody, element_bytes).total;
    if (simulated_.size() >= kKeptSizes) simulated_.clear();
    return simulated_.emplace(key, simulated).first->second;
  }

  const std::unique_ptr<pod::DeviceSum> sum_;
  std::map<std::pair<std::size_t, std::size_t>, SimulatedTime> simulated_;  ///< by count and element bytes
};

Pod::Pod(Context& context) : impl_(std::make_unique<Impl>(context)) {}
Pod::~Pod() = default;

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

// The clock counts 106 days. Half of them are left to collectives, of which none is of notice beside that.
constexpr pod::Picoseconds kMaxTime{std::int64_t{1} << 62};

void Pod::advanceCompute(double flops_per_replica) {
  if (!(flops_per_replica >= 0)) {
    throw popdist_error(ErrorCode::kInvalidArgument, "Pod::advanceCompute: flops_per_replica is " +
                                                         std::to_string(flops_per_replica) +
                                                         ", expected 0 or more");
  }
  const auto taken = pod::computeTime(impl_->layout.spec, flops_per_replica, impl_->layout.ipus_per_replica);
  if (!taken || *taken > kMaxTime - std::min(impl_->time, kMaxTime)) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "Pod::advanceCompute: " + std::to_string(flops_per_replica) +
                            " more operations would take the simulated time beyond 53 days");
  }
  impl_->time += *taken;
}

void Pod::advance(SimulatedTime time) {
  if (time < SimulatedTime(0) || time > kMaxTime - std::min(impl_->time, kMaxTime)) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "Pod::advance: " + std::to_string(time.count()) +
                            " ps are negative, or take the simulated time beyond 53 days");
  }
  impl_->time += time;
}

SimulatedTime Pod::time() const {
  return impl_->time;
}
SimulatedTime Pod::collectiveTime() const {
  return impl_->collective_time;
}

}  // namespace popdist
