// SPDX-License-Identifier: Apache-2.0
// The formula: from a training and a Pod to seconds of a step and samples a second.
#pragma once

#include <cstdint>

#include "common/base/status.h"
#include "pod/predict/system_shape.h"
#include "pod/predict/training.h"

namespace pop::pod::predict {

/// A training's share of a Pod.
struct Placement {
  SystemShape system;
  int replicas = 1;
  std::int64_t micro_batch = 1;
  std::int64_t gradient_accumulation = 1;
};

/// Terms of a step, in seconds; they come to its whole.
struct StepTime {
  double micro_batches = 0;  ///< those that fill and drain the pipeline included
  double batch_norm = 0;     ///< likewise
  double all_reduce = 0;
  double gateway = 0;
  double host_io = 0;
  double fixed = 0;

  double all() const { return micro_batches + batch_norm + all_reduce + gateway + host_io + fixed; }
};

struct Prediction {
  Placement placement;
  int domains = 1;         ///< IPU-Link domains that hold replicas
  std::int64_t slots = 1;  ///< slotsOf()
  StepTime seconds;
  double samples_per_s = 0;
  /// Amdahl's serial part: seconds of a step that more replicas for the same batch do not shorten.
  double serial_s = 0;
};

/// Micro-batch times of a step. A pipeline of S stages adds 2S - 2 in which it fills and drains: PopART's
/// 2S - 1 stages, the last of which goes forward and back at once, take GA + (2S - 1) - 1 cycles.
std::int64_t slotsOf(std::int64_t gradient_accumulation, int stages);

/// IPU-Link domains that hold the replicas. kInvalidArgument: they do not fit, or not evenly.
Result<int> domainsOf(const Placement& placement, int ipus_per_replica);

/// Overheads that a collective pays on `domains` IPU-Link domains, 2(M-1)/M: those of a ring over them.
double gatewayShare(int domains);

/// All that is known without measurements: exchanges by `communication`, and the times that `training` has;
/// those that it has not count as 0. kInvalidArgument: the replicas do not fit on the system, or cannot be
/// grouped for batch norm, or the pipeline cannot be filled, or an exchange takes longer than can be counted.
Result<Prediction> knownPart(const Training& training, const Placement& placement,
                             const CommunicationTime& communication);

/// kFailedPrecondition: a time is missing, or was measured on another chip. gateway_s may be missing: its
/// term is then 0, and callers say so. kInvalidArgument as knownPart().
Result<Prediction> predict(const Training& training, const Placement& placement,
                           const CommunicationTime& communication);

}  // namespace pop::pod::predict
