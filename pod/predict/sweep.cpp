// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/sweep.h"

#include <cmath>

#include "common/base/text.h"

namespace pop::pod::predict {
namespace {

Result<std::int64_t> accumulationFor(std::int64_t global_batch, const Placement& placement,
                                     const Training& training) {
  const double once =
      static_cast<double>(placement.replicas * placement.micro_batch) * training.samples_per_element;
  const double times = static_cast<double>(global_batch) / once;
  if (times >= 1 && std::abs(times - std::round(times)) < 1e-9) return std::llround(times);
  return invalidArgument("a global batch of " + std::to_string(global_batch) + " is no multiple of " +
                         numberText(once) + ", the samples of one micro-batch of " +
                         counted(placement.replicas, "replica") + ": change --global-batch or --micro-batch");
}

Result<Prediction> predictOn(const SystemShape& system, const Training& training, const Wanted& wanted,
                             const CommunicationTime& communication) {
  POP_ASSIGN_OR_RETURN(const Placement placement, placementOn(system, training, wanted));
  return predict(training, placement, communication);
}

}  // namespace

Result<Placement> placementOn(const SystemShape& system, const Training& training, const Wanted& wanted) {
  Placement placement{
      .system = system,
      .replicas = wanted.replicas.value_or(system.ipus() / training.ipus_per_replica),
      .micro_batch = wanted.micro_batch.value_or(training.micro_batch),
      .gradient_accumulation = wanted.gradient_accumulation.value_or(training.gradient_accumulation)};
  const Result<int> domains = domainsOf(placement, training.ipus_per_replica);
  if (!domains.ok()) return domains.status();
  if (wanted.global_batch) {
    POP_ASSIGN_OR_RETURN(placement.gradient_accumulation,
                         accumulationFor(*wanted.global_batch, placement, training));
  }
  return placement;
}

Result<Sweep> sweep(const Training& training, const std::vector<SystemShape>& systems, const Wanted& wanted,
                    const CommunicationTime& communication) {
  Sweep result;
  Status last;
  for (const SystemShape& system : systems) {
    Result<Prediction> prediction = predictOn(system, training, wanted, communication);
    if (prediction.ok()) {
      result.predictions.push_back(std::move(*prediction));
      continue;
    }
    last = prediction.status();
    if (last.code() != Code::kInvalidArgument) return last;
    result.left_out.push_back(system.name + ": " + last.message());
  }
  if (result.predictions.empty()) return invalidArgument(result.left_out.back());
  return result;
}

double idealSamplesPerS(const Prediction& first, const Prediction& prediction) {
  return first.samples_per_s * prediction.placement.replicas / first.placement.replicas;
}

}  // namespace pop::pod::predict
