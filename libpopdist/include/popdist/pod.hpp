// SPDX-License-Identifier: Apache-2.0
// The emulated Pod: collectives between replicas ("on the device"), and a simulated clock.
//
// The data really moves and is really reduced, by the host's cores; the clock says how long a Pod of the
// chosen system would have taken, from a model of its links (docs/adr/0007). The two have nothing to do with
// each other's speed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "popdist/context.hpp"
#include "popdist/types.hpp"

namespace popdist {

/// Time on the simulated Pod: integer picoseconds, so that sums are exact.
using SimulatedTime = std::chrono::duration<std::int64_t, std::pico>;

class Pod {
 public:
  /// Attaches this instance's replicas to the Pod that `context` names. Collective: every instance attaches.
  /// Cost, where there are several instances: two fences, and shared memory as for a communicator
  /// (Context::createCommunicator), over several hosts for each replica; it is given back only when the job
  /// ends, not with the Pod. Throws popdist_error: kFailedPrecondition under --offline-mode, kInvalidArgument
  /// when the replicas do not fit the system, kResourceExhausted when the host's segment is full; otherwise
  /// as Context::fence.
  explicit Pod(Context& context);
  ~Pod();
  Pod(const Pod&) = delete;
  Pod& operator=(const Pod&) = delete;

  const std::string& system() const;  ///< preset, such as "pod16"
  int numReplicas() const;            ///< of the job
  int numLocalReplicas() const;       ///< of this instance
  int firstReplica() const;           ///< global index of this instance's first replica

  /// tensors[l][i] = sum over all replicas of the job of their tensor[i], in place; tensors[l] belongs to
  /// local replica l, has `count` elements and overlaps no other. Not for bool. Who calls: every instance,
  /// with the same count and type, in the same order, with one tensor per local replica. Order: GCL's ring of
  /// replicas (reduce-scatter, then all-gather; across Pods in three phases). It depends on the number of
  /// replicas and the system alone: results are bit-identical for every split of the replicas over instances.
  /// 16-bit types are rounded at each addition. Errors as Communicator; the Pod is then unusable. Clock:
  /// advances by the simulated time of the collective.
  /// Cost, where all instances are on one host: tensors that all lie in its shared memory (popdist::Buffer)
  /// are summed where they are, in one pass over them between two meetings of the instances; others go
  /// through a stage of at most 16 MiB an instance, which is two copies more. A single instance needs
  /// neither. Over several hosts, or where the environment rules memory out: by messages between replicas;
  /// ranks in errors are then replicas, else instances.
  void allReduceSum(std::span<void* const> tensors, std::size_t count, Type type);
  void allReduceSum(std::span<float* const> tensors, std::size_t count);

  /// Advances the clock by the time that every replica takes for `flops_per_replica` floating-point
  /// operations, at the model's achieved rate. Local: replicas are alike, so every instance says the same.
  /// kInvalidArgument, and the clock as it was: no number from 0 on, or more than 53 days of simulated time.
  void advanceCompute(double flops_per_replica);

  SimulatedTime time() const;            ///< since the Pod was attached
  SimulatedTime collectiveTime() const;  ///< the part of time() that went into collectives

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
