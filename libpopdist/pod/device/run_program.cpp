// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/run_program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/dissemination_barrier.h"
#include "libpopdist/internal/fold.h"
#include "libpopdist/pod/plans/collective_plans.h"

namespace popdist::pod {
namespace {

// Squares and means are sums on the way.
Operator onTheWay(Operator op) {
  return op == Operator::kSquareAdd || op == Operator::kMean ? Operator::kSum : op;
}

// The replicas' tensors as they come to the copies.
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

// Members must agree on the group and the root, and must have compiled the same: a file of the executable
// cache can be of another build.
std::uint32_t digestOf(const Program& program) {
  const Collective& collective = program.collective;
  std::vector<std::uint64_t> numbers{static_cast<std::uint64_t>(collective.group.size),
                                     static_cast<std::uint64_t>(collective.group.stride),
                                     static_cast<std::uint64_t>(collective.root),
                                     program.schedule.blocks,
                                     static_cast<std::uint64_t>(program.schedule.rounds()),
                                     static_cast<std::uint64_t>(program.report.time.count())};
  numbers.insert(numbers.end(), program.report.method.begin(), program.report.method.end());
  const std::uint64_t digest = group::digestOf(numbers);
  return static_cast<std::uint32_t>(digest ^ digest >> 32);
}

// Groups do not meet each other, and empty tensors bring no messages: without a barrier before it, a call
// that differs on one instance would not be found.
bool needsMeeting(const Collective& collective, int replicas) {
  return collective.group.size < replicas || collective.count == 0;
}

void meetFirst(plan::Plan& plan, int replica, int replicas) {
  std::vector<plan::Step> steps = plan::planDisseminationBarrier(replica, replicas).steps;
  const std::uint32_t rounds = steps.empty() ? 0 : steps.back().round + 1;
  for (plan::Step& step : steps) step.count = 0;
  for (plan::Step& step : plan.steps) step.round += rounds;
  plan.steps.insert(plan.steps.begin(), steps.begin(), steps.end());
}

void makePlans(Program& program, int first, int locals) {
  const int replicas = program.schedule.replicas;
  program.plans = plansOf(program.schedule, program.collective, first, locals);
  if (!needsMeeting(program.collective, replicas)) return;
  for (int local = 0; local < locals; ++local)
    meetFirst(program.plans[static_cast<std::size_t>(local)], first + local, replicas);
}

}  // namespace

void run(ReplicaMessages& messages, const PodCall& call, Program& program) {
  const Collective& collective = program.collective;
  if (program.plans.empty()) makePlans(program, messages.firstLocal(), messages.locals());
  const Inputs inputs(call, collective.count);
  std::vector<calls::MessageRunner::Part> parts;
  for (std::size_t local = 0; local < program.plans.size(); ++local)
    parts.push_back({&program.plans[local], inputs.of(local), call.out[local]});
  const std::string label = labelOf(collective, program.report.method);
  messages.run(
      {.operation = call.operation(),
       .count = call.count,
       .type = call.type,
       .op = call.op,
       .root = static_cast<int>(digestOf(program)),
       .tensor = label},
      parts,
      {.folds = onTheWay(call.op), .sends_empty = needsMeeting(collective, program.schedule.replicas)});
  if (call.reduces() && call.op == Operator::kMean) divide(call, collective.group.size);
}

}  // namespace popdist::pod
