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
#include <string_view>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist {

/// Time on the simulated Pod: integer picoseconds, so that sums are exact.
using SimulatedTime = std::chrono::duration<std::int64_t, std::pico>;

/// Replicas that make a collective together: replica i * stride + j of each size * stride replicas, for i
/// from 0 on. i is a replica's place. All groups make it at the same time. From: GCL's CommGroup. Within
/// replicas it says the same of the IPUs of each.
struct ReplicaGroup {
  int size = 0;    ///< 0: all replicas of the job, or all IPUs of a replica
  int stride = 1;  ///< 0: as large as it can be
  static ReplicaGroup all() { return {}; }
  static ReplicaGroup consecutive(int size) { return {size, 1}; }
  static ReplicaGroup orthogonal(int size) { return {size, 0}; }
  static ReplicaGroup strided(int size, int stride) { return {size, stride}; }
};

/// From: GCL's names, such as allReduceCrossReplica and allReduceWithinReplica.
enum class PodScope : std::uint8_t {
  kAcrossReplicas,  ///< replicas make it together
  kWithinReplica,   ///< the IPUs of each replica do, all replicas at the same time
};

struct PodCallOptions {
  ReplicaGroup group{};
  std::string_view method{};  ///< in place of that of GCL_OPTIONS
  PodScope scope = PodScope::kAcrossReplicas;
};

enum class PodOperation : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast };

/// A collective as Pod::compile() is told of it: the arguments of its call, but for tensors.
struct PodProgram {
  PodOperation operation = PodOperation::kAllReduce;
  std::size_t count = 0;
  Type type = Type::kFloat;
  int root = 0;
  PodCallOptions options{};
};

/// The simulated time of a collective, and its reasons.
struct PodCollective {
  std::string method;            ///< "meet_in_middle_ring", "trees (2 trees, 61 chunks)", …
  SimulatedTime time{0};         ///< the clock's
  SimulatedTime lower_bound{0};  ///< no way to make it on these links is faster
  int rounds = 0;                ///< copies that follow each other
  std::uint64_t bytes_on_busiest_link = 0;
  double efficiency() const {  ///< of 1 at most; 1 if it takes no time
    return time.count() == 0 ? 1
                             : static_cast<double>(lower_bound.count()) / static_cast<double>(time.count());
  }
};

class Pod {
 public:
  /// Attaches this instance's replicas to the Pod that `context` names. Callers: every instance.
  /// Cost, if there are several instances: two fences, and shared memory as for a communicator
  /// (Context::createCommunicator), over several hosts for each replica. That memory is given back only when
  /// the job ends.
  /// Throws popdist_error: kFailedPrecondition under --offline-mode, kInvalidArgument if the replicas do not
  /// fit the system or GCL_OPTIONS is wrong, kFailedPrecondition if instances have different methods,
  /// kResourceExhausted if the host's segment is full; otherwise as Context::fence.
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
  ///   - Clock: advances by the simulated time of the collective, by the method of GCL_OPTIONS.
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

  /// Collectives as GCL makes them: compiled to rounds of copies between replicas, which are really made and
  /// which the clock counts. `poprun simulate --show-steps` prints them.
  ///   - Shapes: one tensor for each local replica in `in` and in `out`, in the order of replicas. n is the
  ///     group's size; counts are numbers of elements.
  ///   - Callers: every instance, with the same arguments but for tensors, in the same order.
  ///   - Method: PodCallOptions::method or that of GCL_OPTIONS, which all instances must have the same:
  ///   "auto"
  ///     (GCL's choice by size), a ring ("clockwise_ring", "anticlockwise_ring", "bidirectional_ring_pair",
  ///     "meet_in_middle_ring", on a barley twist "quad_directional_ring"), or "quickest": the least
  ///     simulated time of all that are known, which GCL does not have.
  ///   - Order of a sum: that of the method's copies. It depends on the system, the group, the method and the
  ///     count, so results are bit-identical for every split of the replicas over instances. 16-bit types are
  ///     rounded at each step.
  ///   - Tensors do not overlap, but `out` may be `in` of the same replica where a call says "in place".
  ///   - Within replicas (PodScope::kWithinReplica): one tensor for each IPU of each local replica, IPU after
  ///     IPU and replica after replica; places are IPUs of a replica. Data moves in this process alone, after
  ///     all instances have met, and costs a copy of what is sent. Methods are those of replicas of one IPU.
  ///     With one IPU in each replica the call is a copy, and takes no simulated time.
  ///   - Errors: kInvalidArgument, and nothing has happened, for arguments that are wrong by themselves.
  ///     Otherwise as Communicator; the Pod is then unusable. Ranks in errors are replicas.
  ///   - Clock: advances by lastCollective().time.
  ///   - Cost: messages between replicas, through shared memory on a host. For the sum of all replicas
  ///     allReduceSum is 1.5 to 7 times as fast from 64 Ki elements on, and more for fewer. The first call
  ///     that is no allReduceSum or reduceScatterSum needs two fences, and memory as for a communicator of so
  ///     many replicas.

  /// out[i] = `op` over the group's in[i]. Both have `count` elements. In place: yes.
  void allReduce(std::span<const void* const> in, std::span<void* const> out, std::size_t count, Type type,
                 Operator op = Operator::kSum, const PodCallOptions& options = {});
  /// out[i] = `op` over the group's in[place * count + i]. `in` has n * count elements, `out` has count. With
  /// kLocal out[i] = in[place * count + i], of any type: nothing moves, and it takes no time. From: GCL's
  /// LOCAL.
  void reduceScatter(std::span<const void* const> in, std::span<void* const> out, std::size_t count,
                     Type type, Operator op = Operator::kSum, const PodCallOptions& options = {});
  /// out[p * count + i] = in[i] of place p. `in` has count elements, `out` has n * count.
  void allGather(std::span<const void* const> in, std::span<void* const> out, std::size_t count, Type type,
                 const PodCallOptions& options = {});
  /// out[p * count + i] = in[place * count + i] of place p. Both have n * count elements.
  void allToAll(std::span<const void* const> in, std::span<void* const> out, std::size_t count, Type type,
                const PodCallOptions& options = {});
  /// tensors[i] = that of place `root` of the group. They have `count` elements.
  void broadcast(std::span<void* const> tensors, std::size_t count, Type type, int root = 0,
                 const PodCallOptions& options = {});

  /// A tensor of each local replica, within replicas of each of their IPUs, and its elements.
  struct Tensor {
    std::span<void* const> local;
    std::size_t count = 0;
  };
  /// allReduce in place of many tensors of one type. Those that follow each other are merged as long as they
  /// have `merged_bytes` together at most; larger ones go by themselves. Each merged one is a collective for
  /// the clock and costs a copy to it and back. From: maximum_reduce_many_buffer_size of IPUConfig.
  void allReduceMany(std::span<const Tensor> tensors, Type type, std::size_t merged_bytes,
                     Operator op = Operator::kSum, const PodCallOptions& options = {});

  /// Compiles collectives ahead of their calls into the directory of `poprun --executable-cache-path`, and
  /// says what each would take. A call finds its program there, on every host that has the directory: the
  /// first instance compiles, the others wait for it and read. A file that is damaged, or that another user
  /// could have written, is compiled anew. Local, and needs no Pod: also under --offline-mode. Throws
  /// popdist_error: kInvalidArgument names the argument that is wrong, kFailedPrecondition: there is no such
  /// directory.
  static std::vector<PodCollective> compile(const Context& context, std::span<const PodProgram> programs);

  /// The last collective that advanced the clock.
  const PodCollective& lastCollective() const;

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

  /// While it lives, the Pod's compute tiles and I/O tiles work at the same time: of computation on the one
  /// hand (advanceCompute, advance), collectives and streaming on the other, the clock counts the longer one.
  /// Within another one it has no effect. Local, not collective. From: I/O tiles of Poplar.
  class Overlap {
   public:
    explicit Overlap(Pod& pod);
    ~Overlap();
    Overlap(const Overlap&) = delete;
    Overlap& operator=(const Overlap&) = delete;

   private:
    Pod& pod_;
  };

  /// Time of an all-reduce of `bytes` by the usual estimate, which knows nothing of rounds and latency: the
  /// tensor over the links twice; on several Pods also 1/replicas of it over the links between them.
  SimulatedTime allReduceEstimate(std::size_t bytes) const;

  /// The parts of time(), which is their sum without what is hidden.
  struct Times {
    SimulatedTime compute{0};  ///< advanceCompute() and advance()
    SimulatedTime all_reduce{0};
    SimulatedTime reduce_scatter{0};
    SimulatedTime all_gather{0};
    SimulatedTime all_to_all{0};
    SimulatedTime broadcast{0};
    SimulatedTime streaming{0};
    SimulatedTime hidden{0};  ///< by each Overlap that has ended
  };
  const Times& times() const;

  SimulatedTime time() const;            ///< since the Pod was attached
  SimulatedTime collectiveTime() const;  ///< the part of time() that went into collectives

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
