// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_impl.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/pod/device/job_layout.h"
#include "libpopdist/pod/device/pod_environment.h"
#include "libpopdist/pod/device/replica_map.h"
#include "libpopdist/pod/device/run_program.h"
#include "popdist/error.hpp"

namespace popdist {
namespace {

using context::throwIfFailed;
using pod::kAttach;

pop::Status twoThreads() {
  return pop::failedPrecondition(
      "two threads of this process call this Pod at once, and it carries out one call at a time: call it "
      "from "
      "one thread, or one after the other");
}

}  // namespace

class Pod::Impl::Inside {
 public:
  Inside(Impl& pod, plan::Operation operation) : caller_(pod.caller_) {
    if (!caller_.enter()) pod.sum_->refuse(operation, twoThreads());
  }
  ~Inside() { caller_.leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  group::OneCaller& caller_;
};

Pod::Impl::Attached Pod::Impl::attach(Context& context) {
  Attached attached{pod::layoutOf(context), pod::methodOfEnvironment(), {}};
  attached.instance_of_replica = pod::instanceOfReplica(context, attached.method);
  return attached;
}

Pod::Impl::Impl(Context& context) : Impl(context, attach(context)) {}

Pod::Impl::Impl(Context& context, Attached attached)
    : first_replica(context.replicaIndexOffset()),
      local_replicas(context.numLocalReplicas()),
      clock(pod::makePodTrace(trace::recorder(), context.instanceIndex(), attached.layout)),
      context_(context),
      instances_(context.numInstances()),
      instance_of_replica_(std::move(attached.instance_of_replica)),
      programs_(std::move(attached.layout), std::move(attached.method), pod::cacheDirectory()),
      messages_(pod::messagesOfSums(context, instance_of_replica_)),
      sum_(pod::makeDeviceSum(context, programs_.layout(), instance_of_replica_, messages_)) {}

void Pod::Impl::sum(const pod::DeviceTensors& tensors, const pod::Collective& for_clock) {
  if (const pop::Status status = check(tensors); !status.ok()) sum_->refuse(tensors.operation(), status);
  runInside(tensors.operation(), [&] {
    pod::Program& program = timed(tensors.operation(), programs_.of(for_clock));
    sum_->run(tensors);
    clock.addCollective(program);
  });
}

void Pod::Impl::sumParts(const pod::DeviceTensors& tensors, std::span<const Part> parts, int group) {
  parts_.clear();
  for (const Part& part : parts) parts_.push_back({part.begin, part.count});
  if (const pop::Status status = checkParts(tensors.count, group); !status.ok())
    sum_->refuse(plan::kDeviceReduceScatter, status);
  const bool of_all = group == 1;
  sum({tensors.local, tensors.count, tensors.type, parts_},
      {.kind = of_all ? pod::CollectiveKind::kAllReduce : pod::CollectiveKind::kReduceScatterOfAll,
       .group = of_all ? layout().replicas : group,
       .count = tensors.count,
       .element_bytes = sizeOf(tensors.type)});
}

void Pod::Impl::collective(const pod::PodCall& call) {
  refuseIfWrong(call);
  runInside(call.operation(), [&] {
    const pod::CallRanks ranks = ranksOf(call.options);
    pod::Programs& programs = ranks.are_ipus ? programsWithin() : programs_;
    pod::Program& program =
        timed(call.operation(), programs.stored(pod::collectiveOf(call, ranks), call.options.method));
    if (ranks.are_ipus)
      pod::runWithinReplicas(messages(), call, program);
    else
      pod::run(messages(), call, program);
    clock.addCollective(program);
  });
}

// Before anything has happened: a call that cannot be compiled or counted is refused.
pod::Program& Pod::Impl::timed(plan::Operation operation, pop::Result<pod::Program*> program) const {
  if (!program.ok()) sum_->refuse(operation, program.status());
  if (const pop::Status status = clock.checkCollective((*program)->report); !status.ok())
    sum_->refuse(operation, status);
  return **program;
}

pop::Status Pod::Impl::addTime(const pod::Collective& collective) {
  POP_RETURN_IF_ERROR(pod::validate(collective.group, layout().replicas));
  POP_ASSIGN_OR_RETURN(pod::Program* const program, programs_.of(collective));
  POP_RETURN_IF_ERROR(clock.checkCollective(program->report));
  clock.addCollective(*program);
  return {};
}

pop::Status Pod::Impl::checkGroup(int group) const {
  if (group >= 1 && layout().replicas % group == 0) return {};
  return pop::invalidArgument("replicas_per_group is " + std::to_string(group) +
                              ", which does not divide the job's " +
                              pop::counted(layout().replicas, "replica"));
}

// Sums and other calls may have groups of their own: where one has failed, the other must not go on.
void Pod::Impl::abort(const std::string& why) {
  const auto abortIn = [&](auto& group) {
    try {
      group.abort(plan::kDeviceAllReduce, {pop::Code::kAborted, why});
    } catch (const popdist_error&) {  // is for the others
    }
  };
  abortIn(*sum_);
  if (messages_ != nullptr) abortIn(*messages_);
}

template <typename Run>
void Pod::Impl::runInside(plan::Operation operation, const Run& run) try {
  const Inside inside(*this, operation);
  run();
  if (caller_.hadSecond()) sum_->abort(operation, twoThreads());
} catch (const std::bad_alloc&) {
  outOfMemory(operation);
} catch (const std::length_error&) {  // more than a vector can have
  outOfMemory(operation);
} catch (const popdist_error& error) {
  if (error.code() != ErrorCode::kInvalidArgument) abort(error.what());
  throw;
}

void Pod::Impl::outOfMemory(plan::Operation operation) {
  abort("out of memory");
  sum_->abort(operation, {pop::Code::kResourceExhausted, "out of memory"});
}

void Pod::Impl::refuseIfWrong(const pod::PodCall& call) const {
  const pop::Status status = pod::check(call, ranksOf(call.options));
  if (!status.ok()) sum_->refuse(call.operation(), status);
}

void Pod::Impl::refuseIfWrong(const pop::Status& of_many) const {
  if (!of_many.ok()) sum_->refuse(plan::kPodAllReduce, of_many);
}

pod::ReplicaMessages& Pod::Impl::messages() {
  if (messages_ == nullptr)
    messages_ = std::make_shared<pod::ReplicaMessages>(context_, instance_of_replica_);
  return *messages_;
}

pod::Programs& Pod::Impl::programsWithin() {
  if (programs_within_ == nullptr) programs_within_ = programs_.withinReplicas();
  return *programs_within_;
}

pop::Status Pod::Impl::check(const pod::DeviceTensors& tensors) const {
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

pop::Status Pod::Impl::checkParts(std::size_t count, int group) const {
  POP_RETURN_IF_ERROR(checkGroup(group));
  if (parts_.size() != static_cast<std::size_t>(instances_))
    return pop::invalidArgument("expected a part for each of the " + pop::counted(instances_, "instance") +
                                ", got " + std::to_string(parts_.size()));
  std::vector<plan::Range> sorted;
  for (const plan::Range& part : parts_) {
    if (part.begin > count || part.count > count - part.begin)
      return pop::invalidArgument("a part has " + std::to_string(part.count) + " elements from " +
                                  std::to_string(part.begin) + " on, and there are " + std::to_string(count));
    if (part.count > 0) sorted.push_back(part);
  }
  std::ranges::sort(sorted, {}, &plan::Range::begin);
  for (std::size_t at = 1; at < sorted.size(); ++at) {
    const plan::Range& part = sorted[at - 1];
    const plan::Range& next = sorted[at];
    const bool same = part.begin == next.begin && part.count == next.count;
    if (!same && next.begin < part.begin + part.count)
      return pop::invalidArgument("parts that begin at " + std::to_string(part.begin) + " and " +
                                  std::to_string(next.begin) +
                                  " have elements in common, and are not the same");
  }
  return {};
}

}  // namespace popdist
