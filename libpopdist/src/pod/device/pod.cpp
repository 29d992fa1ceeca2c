// SPDX-License-Identifier: Apache-2.0
// The replicas of this instance on the emulated Pod. Ranks of its group are replicas: the same plans,
// executor and channels carry device collectives, whether two replicas share a process or not. That is what
// makes results independent of the split.
#include "popdist/pod.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/src/context/context_impl.h"
#include "libpopdist/src/pod/model/clock.h"
#include "libpopdist/src/pod/model/gcl/all_reduce.h"
#include "libpopdist/src/pod/model/numbering.h"
#include "libpopdist/src/pod/model/replica_layout.h"
#include "popdist/error.hpp"

namespace popdist {
namespace {

using context::throwIfFailed;
using pop::inQuotes;

constexpr const char* kAttach = "attaching to the Pod";

// Keeps the number apart from those of Communicator's operations, should the two ever meet in one message.
constexpr std::uint32_t kDeviceAllReduce = exec::kOperationMask;

pod::ReplicaLayout layoutOf(const Context& context) {
  if (context.offline()) {
    throw popdist_error(ErrorCode::kFailedPrecondition,
                        std::string(kAttach) + ": poprun was started with --offline-mode, there is no Pod");
  }
  const std::int64_t ipus = std::int64_t{context.numTotalReplicas()} * context.numIpusPerReplica();
  pop::Result<pod::PodSpec> spec =
      context.system().empty() ? pod::smallestPodFor(ipus) : pod::podSpecByName(context.system());
  throwIfFailed({spec.status()}, kAttach);
  pod::ReplicaLayout layout{std::move(*spec), context.numTotalReplicas(), context.numIpusPerReplica()};
  throwIfFailed({pod::validate(layout)}, kAttach);
  return layout;
}

// Which instance holds each replica: everybody says where its own begin.
std::vector<int> instanceOfReplica(Context& context) {
  const std::string prefix = "popdist/replicas/";
  context.put(
      prefix + std::to_string(context.instanceIndex()),
      std::to_string(context.replicaIndexOffset()) + ' ' + std::to_string(context.numLocalReplicas()));
  throwIfFailed(context.impl().surroundings.link->fence("Pod", context.timeout()), kAttach);
  std::vector<int> result(static_cast<std::size_t>(context.numTotalReplicas()), -1);
  for (int instance = 0; instance < context.numInstances(); ++instance) {
    const std::string text = context.get(prefix + std::to_string(instance)).value_or("");
    char* rest = nullptr;
    const long first = std::strtol(text.c_str(), &rest, 10);
    const long count = std::strtol(rest, nullptr, 10);
    if (first < 0 || count < 1 || first + count > context.numTotalReplicas()) {
      throwIfFailed({pop::failedPrecondition("instance " + std::to_string(instance) +
                                             " says that it holds replicas " + inQuotes(text))},
                    kAttach);
    }
    std::fill_n(result.begin() + first, count, instance);
  }
  for (std::size_t replica = 0; replica < result.size(); ++replica) {
    if (result[replica] < 0) {
      throwIfFailed({pop::failedPrecondition("no instance holds replica " + std::to_string(replica))},
                    kAttach);
    }
  }
  return result;
}

}  // namespace

class Pod::Impl {
 public:
  explicit Impl(Context& context)
      : layout(layoutOf(context)),
        first_replica(context.replicaIndexOffset()),
        local_replicas(context.numLocalReplicas()),
        group_(context::Group::create(context.impl().surroundings, instanceOfReplica(context),
                                      context::Way::kMessages)) {}

  void allReduce(std::span<void* const> tensors, std::size_t count, Type type) {
    constexpr const char* kName = "Pod::allReduceSum";
    check(kName, tensors, count, type);
    const Planned& planned = plannedFor(count, sizeOf(type));
    std::vector<context::Group::Part> parts;
    for (std::size_t local = 0; local < tensors.size(); ++local) {
      parts.push_back({&planned.plans[local], tensors[local], tensors[local]});
    }
    group_->run({.name = kName, .operation = kDeviceAllReduce, .type = type, .count = count}, parts);
    time += planned.simulated;
    collective_time += planned.simulated;
  }

  const pod::ReplicaLayout layout;
  const int first_replica;
  const int local_replicas;
  SimulatedTime time{0};
  SimulatedTime collective_time{0};

 private:
  struct Planned {
    std::vector<plan::Plan> plans;  ///< of the local replicas
    SimulatedTime simulated{0};
  };

  void check(const char* name, std::span<void* const> tensors, std::size_t count, Type type) const {
    if (tensors.size() != static_cast<std::size_t>(local_replicas)) {
      group_->fail(
          name,
          pop::invalidArgument("expected one tensor for each of the " + std::to_string(local_replicas) +
                               " local replicas, got " + std::to_string(tensors.size())),
          -1);
    }
    if (reduce::sumKernel(type) == nullptr) {
      group_->fail(name, pop::invalidArgument(std::string("there is no sum of ") + nameOf(type)), -1);
    }
    if (count > context::mostElements(type))
      group_->fail(name, pop::invalidArgument("count exceeds any memory"), -1);
    for (void* tensor : tensors) {
      if (tensor == nullptr && count > 0)
        group_->fail(name, pop::invalidArgument("a tensor is a null pointer"), -1);
    }
  }

  // Training repeats the same few sizes: each is planned and simulated once.
  const Planned& plannedFor(std::size_t count, std::size_t element_bytes) {
    const std::pair key(count, element_bytes);
    if (const auto found = planned_.find(key); found != planned_.end()) return found->second;
    std::vector<plan::Plan> everybody;
    for (int replica = 0; replica < layout.replicas; ++replica) {
      everybody.push_back(pod::gcl::planDeviceAllReduce(layout, replica, count));
    }
    Planned planned;
    planned.simulated = pod::simulate(layout, everybody, element_bytes).total;
    const auto first = everybody.begin() + first_replica;
    planned.plans.assign(std::make_move_iterator(first), std::make_move_iterator(first + local_replicas));
    return planned_.emplace(key, std::move(planned)).first->second;
  }

  std::unique_ptr<context::Group> group_;
  std::map<std::pair<std::size_t, std::size_t>, Planned> planned_;  ///< by count and element bytes
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

void Pod::advanceCompute(double flops_per_replica) {
  constexpr double kMostFlops = 1e21;  // a year of one IPU; far from where the clock overflows
  if (!(flops_per_replica >= 0 && flops_per_replica <= kMostFlops)) {
    throw popdist_error(
        ErrorCode::kInvalidArgument,
        "Pod::advanceCompute: " + std::to_string(flops_per_replica) + " is not from 0 to 1e21 operations");
  }
  impl_->time += pod::computeTime(impl_->layout.spec, flops_per_replica, impl_->layout.ipus_per_replica);
}

SimulatedTime Pod::time() const {
  return impl_->time;
}
SimulatedTime Pod::collectiveTime() const {
  return impl_->collective_time;
}

}  // namespace popdist
