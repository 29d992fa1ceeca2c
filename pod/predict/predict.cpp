// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/predict.h"

#include <string>

#include "common/base/text.h"

namespace pop::pod::predict {
namespace {

// A micro-batch of another size takes its share of the time.
double secondsPerSlot(const Training& training, const Placement& placement) {
  return training.micro_batch_s.value_or(0) * static_cast<double>(placement.micro_batch) /
         static_cast<double>(training.micro_batch);
}

Status checkGroups(const Training& training, const Placement& placement) {
  const int span = training.batch_norm.span;
  const std::string name = "batch_norm_span = " + std::to_string(span);
  if (placement.replicas % span != 0)
    return invalidArgument(counted(placement.replicas, "replica") + " cannot be divided into groups of " +
                           name + ": change one of them");
  if (std::int64_t{span} * training.ipus_per_replica > placement.system.ipus_per_domain)
    return invalidArgument("a group of " + name + " is larger than an IPU-Link domain: make it smaller");
  return {};
}

Status checkPipeline(const Training& training, const Placement& placement) {
  if (training.stages == 1 || placement.gradient_accumulation >= training.stages) return {};
  return invalidArgument("a pipeline of " + counted(training.stages, "stage") +
                         " needs gradient_accumulation of at least as many, not " +
                         std::to_string(placement.gradient_accumulation));
}

}  // namespace

std::int64_t slotsOf(std::int64_t gradient_accumulation, int stages) {
  return gradient_accumulation + 2 * std::int64_t{stages} - 2;
}

double gatewayShare(int domains) {
  return 2.0 * (domains - 1) / domains;
}

Result<int> domainsOf(const Placement& placement, int ipus_per_replica) {
  const SystemShape& system = placement.system;
  const std::int64_t ipus = std::int64_t{placement.replicas} * ipus_per_replica;
  const std::string job = counted(placement.replicas, "replica") + " of " + counted(ipus_per_replica, "IPU");
  if (ipus_per_replica > system.ipus_per_domain)
    return invalidArgument("a replica of " + counted(ipus_per_replica, "IPU") + " is larger than " +
                           system.name + "'s IPU-Link domain of " + std::to_string(system.ipus_per_domain));
  if (placement.replicas < 1) return invalidArgument("a training has at least one replica");
  if (ipus > system.ipus())
    return invalidArgument(job + " need " + std::to_string(ipus) + " IPUs, and " + system.name + " has " +
                           std::to_string(system.ipus()) + ": take fewer replicas, or a larger system");
  const auto domains = static_cast<int>((ipus + system.ipus_per_domain - 1) / system.ipus_per_domain);
  if (placement.replicas % domains != 0)
    return invalidArgument(job + " cannot be divided evenly over the " + std::to_string(domains) +
                           " IPU-Link domains that they need: take a multiple of " + std::to_string(domains));
  return domains;
}

Result<Prediction> knownPart(const Training& training, const Placement& placement,
                             const CommunicationTime& communication) {
  Prediction result{.placement = placement};
  POP_ASSIGN_OR_RETURN(result.domains, domainsOf(placement, training.ipus_per_replica));
  POP_RETURN_IF_ERROR(checkGroups(training, placement));
  POP_RETURN_IF_ERROR(checkPipeline(training, placement));
  result.slots = slotsOf(placement.gradient_accumulation, training.stages);
  const auto slots = static_cast<double>(result.slots);
  const auto timeOf = [&](std::uint64_t bytes, int replicas) -> Result<double> {
    if (replicas <= 1) return 0.0;
    return communication(placement.system, bytes, replicas, training.ipus_per_replica);
  };
  StepTime& seconds = result.seconds;
  const double slot_s = secondsPerSlot(training, placement) / placement.system.slowest_ipu;
  const BatchNorm& norm = training.batch_norm;
  double norm_s = 0;
  if (norm.collectives() > 0) {
    POP_ASSIGN_OR_RETURN(const double once_s, timeOf(norm.statistics_bytes, norm.span));
    norm_s = norm.collectives() * once_s;
  }
  seconds.micro_batches = slots * slot_s;
  seconds.batch_norm = slots * norm_s;
  POP_ASSIGN_OR_RETURN(seconds.all_reduce, timeOf(training.gradient_bytes, placement.replicas));
  seconds.gateway = static_cast<double>(training.collectives) * gatewayShare(result.domains) *
                    training.gateway_s.value_or(0);
  seconds.host_io = training.host_io_s;
  seconds.fixed = training.fixed_s.value_or(0);
  const auto accumulation = static_cast<double>(placement.gradient_accumulation);
  result.serial_s = seconds.all() - accumulation * (slot_s + norm_s);
  result.samples_per_s = static_cast<double>(placement.replicas * placement.micro_batch) * accumulation *
                         training.samples_per_element / seconds.all();
  return result;
}

Result<Prediction> predict(const Training& training, const Placement& placement,
                           const CommunicationTime& communication) {
  for (const auto& [name, seconds] :
       {std::pair{"micro_batch_time", training.micro_batch_s}, std::pair{"fixed_time", training.fixed_s}}) {
    if (!seconds)
      return failedPrecondition("the model has no " + std::string(name) +
                                ": measure it and write it there, or learn it with --fit");
  }
  if (training.chip != placement.system.chip)
    return failedPrecondition("the model's times are those of " + training.chip + " IPUs, and " +
                              placement.system.name + " has " + placement.system.chip +
                              " IPUs: measure on them");
  return knownPart(training, placement, communication);
}

}  // namespace pop::pod::predict
