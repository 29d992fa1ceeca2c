// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/run_program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/dissemination_barrier.h"
#include "libpopdist/internal/fold.h"
#include "libpopdist/pod/device/local_exchange.h"
#include "libpopdist/pod/plans/collective_plans.h"

namespace popdist::pod {
namespace {

// Squares and means are sums on the way.
Operator onTheWay(Operator op) {
  return op == Operator::kSquareAdd || op == Operator::kMean ? Operator::kSum : op;
}

// The ranks' tensors as they come to the copies.
class Inputs {
 public:
  /// `count` elements in each.
  Inputs(const PodCall& call, std::size_t count) : tensors_(call.in.begin(), call.in.end()) {
    if (call.kind == CollectiveKind::kBroadcast) tensors_.assign(call.out.begin(), call.out.end());
    if (call.reduces() && call.op == Operator::kSquareAdd) square(call.type, count);
  }

  const void* of(std::size_t local) const { return tensors_[local]; }

 private:
  void square(Type type, std::size_t count) {
    const std::size_t bytes = count * sizeOf(type);
    squares_.resize(bytes * tensors_.size());
    for (std::size_t local = 0; local < tensors_.size(); ++local) {
      void* const to = squares_.data() + local * bytes;
      reduce::fold({.op = Operator::kSquareAdd, .type = type}, {&to, 1}, {&tensors_[local], 1}, count);
      tensors_[local] = to;
    }
  }

  std::vector<const void*> tensors_;
  std::vector<std::byte> squares_;
};

void divide(const PodCall& call, int group) {
  for (void* const out : call.out) {
    const void* const from = out;
    reduce::fold(
        {.op = Operator::kMean, .type = call.type, .partials = 1, .divisor = static_cast<double>(group)},
        {&out, 1}, {&from, 1}, call.count);
  }
}

// Members must agree on the ranks, the group and the root, and must have compiled the same: a file of the
// executable cache can be of another build.
std::uint32_t digestOf(const Program& program) {
  const Collective& collective = program.collective;
  std::vector<std::uint64_t> numbers{static_cast<std::uint64_t>(program.schedule.replicas),
                                     static_cast<std::uint64_t>(collective.group.size),
                                     static_cast<std::uint64_t>(collective.group.stride),
                                     static_cast<std::uint64_t>(collective.root),
                                     program.schedule.blocks,
                                     static_cast<std::uint64_t>(program.schedule.rounds()),
                                     static_cast<std::uint64_t>(program.report.time.count())};
  numbers.insert(numbers.end(), program.report.method.begin(), program.report.method.end());
  const std::uint64_t digest = group::digestOf(numbers);
  return static_cast<std::uint32_t>(digest ^ digest >> 32);
}

std::vector<calls::MessageRunner::Part> partsOf(const PodCall& call, const Inputs& inputs,
                                                const std::vector<plan::Plan>& plans) {
  std::vector<calls::MessageRunner::Part> parts;
  for (std::size_t local = 0; local < plans.size(); ++local)
    parts.push_back({&plans[local], inputs.of(local), call.out[local]});
  return parts;
}

// Groups do not meet each other, and neither empty tensors nor what each has by itself bring messages:
// without a barrier before it, a call that differs on one instance would not be found.
bool needsMeeting(const Program& program) {
  const Collective& collective = program.collective;
  return collective.group.size < program.schedule.replicas || collective.count == 0 ||
         program.schedule.rounds() == 0;
}

plan::Plan meetingOf(int replica, int replicas) {
  plan::Plan plan = plan::planDisseminationBarrier(replica, replicas);
  for (plan::Step& step : plan.steps) step.count = 0;
  return plan;
}

void meetFirst(plan::Plan& plan, int replica, int replicas) {
  const std::vector<plan::Step> steps = meetingOf(replica, replicas).steps;
  const std::uint32_t rounds = steps.empty() ? 0 : steps.back().round + 1;
  for (plan::Step& step : plan.steps) step.round += rounds;
  plan.steps.insert(plan.steps.begin(), steps.begin(), steps.end());
}

void makePlans(Program& program, int first, int locals) {
  const int replicas = program.schedule.replicas;
  program.plans = plansOf(program.schedule, program.collective, first, locals);
  if (!needsMeeting(program)) return;
  for (int local = 0; local < locals; ++local)
    meetFirst(program.plans[static_cast<std::size_t>(local)], first + local, replicas);
}

// All that instances compare.
group::CollectiveCall describe(const PodCall& call, const Program& program, const std::string& label) {
  return {.operation = call.operation(),
          .count = call.count,
          .type = call.type,
          .op = call.op,
          .root = static_cast<int>(digestOf(program)),
          .tensor = label};
}

// A single instance has nobody to meet, but may be unable to make calls.
void meet(ReplicaMessages& messages, const PodCall& call, const Program& program) {
  const int replicas = messages.replicas();
  std::vector<plan::Plan> plans(static_cast<std::size_t>(messages.locals()));
  for (std::size_t local = 0; local < plans.size() && messages.locals() < replicas; ++local)
    plans[local] = meetingOf(messages.firstLocal() + static_cast<int>(local), replicas);
  std::vector<calls::MessageRunner::Part> parts;
  for (const plan::Plan& plan : plans) parts.push_back({&plan, nullptr, nullptr});
  const std::string label = labelOf(call.options.scope, program.collective, program.report.method);
  messages.run(describe(call, program, label), parts, {.sends_empty = true});
}

void finish(const PodCall& call, const Program& program) {
  if (call.reduces() && call.op == Operator::kMean) divide(call, program.collective.group.size);
}

}  // namespace

void run(ReplicaMessages& messages, const PodCall& call, Program& program) {
  if (program.plans.empty()) makePlans(program, messages.firstLocal(), messages.locals());
  const Inputs inputs(call, program.collective.count);
  const std::string label = labelOf(call.options.scope, program.collective, program.report.method);
  messages.run(describe(call, program, label), partsOf(call, inputs, program.plans),
               {.folds = onTheWay(call.op), .sends_empty = needsMeeting(program)});
  finish(call, program);
}

void runWithinReplicas(ReplicaMessages& messages, const PodCall& call, Program& program) {
  meet(messages, call, program);
  const int ipus = program.schedule.replicas / messages.replicas();
  const int first = messages.firstLocal() * ipus;
  if (program.plans.empty())
    program.plans = plansOf(program.schedule, program.collective, first, messages.locals() * ipus);
  const Inputs inputs(call, program.collective.count);
  exchangeLocally(partsOf(call, inputs, program.plans), first, call.type, onTheWay(call.op));
  finish(call, program);
}

}  // namespace popdist::pod
