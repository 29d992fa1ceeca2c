// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/trainer/derived.h"

#include <algorithm>
#include <limits>
#include <string>

#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"

namespace popdist::train {

double divisorOf(GradientScale scale, const Strategy& strategy) {
  switch (scale) {
    case GradientScale::kMeanOfReplicas:
      return strategy.numReplicas();
    case GradientScale::kMeanOfWorkers:
      return strategy.numWorkers();
    case GradientScale::kSum:
      break;
  }
  return 1;
}

MemoryPlan planOf(const Strategy& strategy, const Parameters& parameters, const Optimizer& optimizer,
                  const TrainerOptions& options, int micro_batches) {
  MemoryPlanOptions plan = options.memory;
  plan.accumulation = options.accumulation;
  plan.accumulation.count = std::max(1, micro_batches);
  plan.replicas = strategy.numReplicas();
  plan.replicas_per_state = options.replicas_per_optimizer_state;
  plan.variables_on_host = strategy.variablesOnHost();
  plan.ipus_per_replica = strategy.context().numIpusPerReplica();
  plan.in_processor_bytes = plan.streaming_bytes = std::numeric_limits<std::uint64_t>::max();
  return planMemory(parameters, optimizer, plan);
}

int samplesPerUpdate(const Strategy& strategy, int count, int micro_batch) {
  const auto micro_batches = static_cast<double>(count) * strategy.numReplicas();
  const double samples = micro_batch * micro_batches;
  if (samples < 0 || samples > std::numeric_limits<int>::max())
    throwIfError(
        pop::invalidArgument("micro_batch is " + std::to_string(micro_batch) + ", of which an update has " +
                             pop::numberText(micro_batches) + ", expected 0 or more, and at most " +
                             std::to_string(std::numeric_limits<int>::max()) + " samples together"),
        "Trainer.samplesPerUpdate");
  return static_cast<int>(samples);
}

std::vector<Piece> piecesOf(FlatTensors& tensors) {
  const TensorRefs refs = tensors.refs();
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.spec().size(); ++i) {
    const TensorSpec& spec = tensors.spec()[i];
    pieces.push_back({.name = spec.name, .type = spec.type, .shape = spec.shape, .bytes = refs.bytes(i)});
  }
  return pieces;
}

pop::Status checkReplicas(const Strategy& strategy, const io::Infeed& infeed) {
  if (infeed.replicas() == strategy.numLocalReplicas()) return {};
  return pop::invalidArgument("the infeed has " + pop::counted(infeed.replicas(), "replica") +
                              " and this instance " + pop::counted(strategy.numLocalReplicas(), "replica") +
                              ": set InfeedOptions::replicas to Context::numLocalReplicas()");
}

}  // namespace popdist::train
