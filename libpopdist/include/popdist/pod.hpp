// SPDX-License-Identifier: Apache-2.0
// The emulated Pod: collectives between replicas ("on the device"), and a simulated clock.
//
// The host's cores really move and reduce the data. The clock says how long a Pod of the chosen system would
// have taken, by a model of its links (docs/adr/0007). The speed of the one does not influence the other.
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
  /// Attaches this instance's replicas to the Pod that `context` names. Callers: every instance.
  /// Cost, if there are several instances: two fences, and shared memory as for a communicator
  /// (Context::createCommunicator), over several hosts for each replica. That memory is given back only when
  /// the job ends.
  /// Throws popdist_error: kFailedPrecondition under --offline-mode, kInvalidArgument if the replicas do not
  /// fit the system, kResourceExhausted if the host's segment is full; otherwise as Context::fence.
  explicit Pod(Context& context);
  ~Pod();
  Pod(const Pod&) = delete;
  Pod& operator=(const Pod&) = delete;

  /// This instance gives up: others that wait for it in a sum, or come to one, get an error with this text at
  /// once. No sum is possible any more. Local.
  void abort(const std::string& why);

  const std::string& system() const;  ///< its name, such as "pod16"
  int numReplicas() const;            ///< the job's
  int numLocalReplicas() const;       ///< this instance's
  int firstReplica() const;           ///< global index of this instance's first replica

  /// tensors[l][i] = the sum of element i over all replicas of the job, in place.
  ///   - Shapes: one tensor for each local replica: tensors[l] belongs to local replica l and has `count`
  ///     elements. Tensors do not overlap. All types but bool.
  ///   - Callers: every instance, with the same count and type, in the same order.
  ///   - Order of the sum: that of GCL's ring of replicas (reduce-scatter, then all-gather; across Pods in
  ///     three phases). It depends only on the number of replicas and the system, so results are
  ///     bit-identical for every split of the replicas over instances. 16-bit types are rounded at each
  ///     addition.
  ///   - Errors: as Communicator; the Pod is then unusable.
  ///   - Clock: advances by the simulated time of the collective.
  ///   - Cost on one host: if all tensors lie in shared memory (popdist::Buffer), they are summed where they
  ///     are, in one pass, and instances wait for each other twice. Other tensors go through a buffer of at
  ///     most 16 MiB in each instance: two more copies. A single instance neither waits nor copies.
  ///   - Cost over several hosts, or where the environment asks for messages: messages between replicas.
  ///     Ranks in errors are then replicas, otherwise instances.
  void allReduceSum(std::span<void* const> tensors, std::size_t count, Type type);
  void allReduceSum(std::span<float* const> tensors, std::size_t count);

  /// Elements [begin, begin + count) of a tensor.
  struct Part {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  /// The sums of allReduceSum, bit by bit, but each instance gets only what it needs: the elements of
  /// parts[i] in tensors[0] of instance i. All other elements of all tensors are undefined afterwards.
  ///   - Shapes, callers, errors: as allReduceSum. `parts`: one for each instance of the job; two are the
  ///     same, or have no element in common. `replicas_per_group` divides the replicas.
  ///   - Clock: a reduce-scatter within each group of so many consecutive replicas, then an all-reduce of
  ///     parts between groups. With 1, that of allReduceSum.
  ///   - Cost on one host: if all tensors lie in shared memory, one pass over the part, of which instances
  ///     with the same one do a share each, and two waits. Others: as allReduceSum.
  ///   - Cost over several hosts: the rings' first halves, then each replica sends what it has summed
  ///     straight to those that need it.
  void reduceScatterSum(std::span<void* const> tensors, std::size_t count, Type type,
                        std::span<const Part> parts, int replicas_per_group);

  /// Advances the clock by the time that a replica takes for `flops_per_replica` floating-point operations,
  /// at the rate that the model says is achieved. Local, not collective: all replicas are alike, so every
  /// instance passes the same number. Throws kInvalidArgument, and leaves the clock, if the number is
  /// negative, not a number, or means more than 53 days of simulated time.
  void advanceCompute(double flops_per_replica);

  /// Advances the clock by a time that is known, such as of a pipeline's run. Otherwise as advanceCompute.
  void advance(SimulatedTime time);

  /// Advances the clock by collectives whose data the host moves, or has moved, by other means: within groups
  /// of consecutive replicas, all at the same time. `bytes`: what each replica has afterwards. Otherwise as
  /// advanceCompute; also throws kInvalidArgument if `replicas_per_group` does not divide the replicas.
  void advanceAllGather(std::size_t bytes, int replicas_per_group);
  void advanceAllReduce(std::size_t bytes, int replicas_per_group);

  /// Advances the clock by the time that tensors take from Streaming Memory to the IPU, or back. Otherwise as
  /// advanceCompute.
  void advanceStreaming(SimulatedTime time);

  /// Time of an all-reduce of `bytes` by the usual estimate, which knows nothing of rounds and latency: the
  /// tensor over the links twice; on several Pods also 1/replicas of it over the links between them.
  SimulatedTime allReduceEstimate(std::size_t bytes) const;

  /// The parts of time().
  struct Times {
    SimulatedTime compute{0};  ///< advanceCompute() and advance()
    SimulatedTime all_reduce{0};
    SimulatedTime reduce_scatter{0};
    SimulatedTime all_gather{0};
    SimulatedTime streaming{0};
  };
  const Times& times() const;

  SimulatedTime time() const;            ///< since the Pod was attached
  SimulatedTime collectiveTime() const;  ///< the part of time() that went into collectives

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
