// SPDX-License-Identifier: Apache-2.0
// Programs that are started by hand, one in each terminal, find each other by a list of addresses: from
// TF_CONFIG, from the program itself, or from poprun. docs/guide/started_by_hand.md shows it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/error.hpp"

namespace popdist::train {

/// A process's role in its cluster.
enum class TaskType : std::uint8_t {
  kChief,     ///< a worker, and the leader; at most one
  kWorker,    ///< trains
  kEvaluator  ///< reads checkpoints beside the training; no instance of the cluster
};

/// "chief", "worker", "evaluator": as TF_CONFIG has it.
const char* nameOf(TaskType type);

/// The instances that train together, and which of them this process is. The default: this process alone.
struct Cluster {
  /// "host:port" of each instance, in their order: the chief, if there is one, and then the workers. IPv6
  /// addresses are in brackets. Empty: this process alone. Addresses may be empty if poprun started them.
  std::vector<std::string> workers{};
  bool has_chief = false;  ///< workers[0] is chief:0, and workers[1] is worker:0
  TaskType type = TaskType::kWorker;
  int index = 0;             ///< among the tasks of this type
  bool from_poprun = false;  ///< poprun started the instances and connects them

  /// The number of instances, which an evaluator is not one of.
  int size() const { return workers.empty() ? 1 : static_cast<int>(workers.size()); }
  bool isEvaluator() const { return type == TaskType::kEvaluator; }
  /// This process's instance: chief:0 is 0, and worker:0 is the next. -1: an evaluator, which is none.
  int instanceIndex() const;
  /// True for instance 0, whose initial values all others take.
  bool isLeader() const { return instanceIndex() == 0; }
  /// "chief:0", "worker:3": what TF_CONFIG calls that instance.
  std::string taskOf(int instance) const;
};

/// Says who is in the cluster. Programs may implement it, for a scheduler that knows.
class ClusterResolver {
 public:
  virtual ~ClusterResolver() = default;
  /// The same list in every process of the cluster, and another task in each. Throws popdist_error, or what
  /// an implementation of the program throws.
  virtual Cluster resolve() const = 0;
};

/// Reads TF_CONFIG: {"cluster":{"worker":["a:3737","b:3737"]},"task":{"type":"worker","index":0}}, and the
/// same with one "chief" ("master" is its older name); indices may be texts, and the addresses of a job an
/// object of index to address. A cluster without jobs is this process alone. Other keys are left alone.
/// Parameter servers are refused.
class TfConfigResolver : public ClusterResolver {
 public:
  /// Throws popdist_error kFailedPrecondition if TF_CONFIG is not set, and kInvalidArgument for anything in
  /// it that is not as it must be: what() names the key, its value and what is expected.
  Cluster resolve() const override;
};

/// The list that the program has.
class SimpleResolver : public ClusterResolver {
 public:
  /// `workers` as in Cluster, without a chief; `index` is this process's in it.
  SimpleResolver(std::vector<std::string> workers, int index) : workers_(std::move(workers)), index_(index) {}
  /// Throws popdist_error kInvalidArgument: no worker, an index out of range, or a bad or repeated address.
  Cluster resolve() const override;

 private:
  std::vector<std::string> workers_;
  int index_;
};

/// The instances of the job that poprun has started, and what its TF_CONFIG calls them if it has one.
class PoprunResolver : public ClusterResolver {
 public:
  /// Throws popdist_error kFailedPrecondition in a process that poprun has not started, and the errors of
  /// Context::fromEnvironment for variables that contradict each other.
  Cluster resolve() const override;
};

/// Sets TF_CONFIG in this process, for `num_workers` workers of this machine: localhost, at `base_port` and
/// the ports after it. Returns the text. The numbers may be those of MPI (rank and size) or of a loop that
/// forks. Call it before other threads run: the environment has no lock. Throws popdist_error
/// kInvalidArgument: worker_index is not in [0, num_workers), or a port is not from 1 to 65535.
std::string setTfConfig(int worker_index, int num_workers, int base_port = 3737);

/// The one cluster that a strategy uses: the given resolver's or TF_CONFIG's, never both.
///   a process of poprun     poprun's; TF_CONFIG is then poprun's, too
///   `given`                 its cluster
///   TF_CONFIG               TfConfigResolver's
///   none of them            this process alone
/// Throws popdist_error kFailedPrecondition if there are two: `given` (other than a TfConfigResolver) and
/// TF_CONFIG, or `given` (other than a PoprunResolver) and poprun; and if there is none, and another launcher
/// (mpirun, srun, torchrun) started this process as one of several. And what resolve() throws.
Cluster resolveCluster(const ClusterResolver* given = nullptr);

/// Options by which instances find each other. The same in all of them, except `timeout`.
struct ClusterOptions {
  /// Each instance's wait for the others, which may start in any order.
  std::chrono::milliseconds timeout{60'000};
  int replicas_per_instance = 1;
  int ipus_per_replica = 1;
};

/// The context of this process in `cluster`: instance `cluster.instanceIndex()` of `cluster.size()`. Every
/// instance calls it. Instance 0 listens at its own address; the others connect to it, and keep theirs
/// reserved. From then on everything is as in a job of poprun over hosts, with each instance on a host of its
/// own: Context, communicators, Pods, the backend of POPDIST_BACKEND. See the guide for what is not
/// encrypted.
///
/// An instance that ends without destroying its context, or while an exception passes, has failed for the
/// others: they get kUnavailable with its index. Context::abort ends the processes of all instances. When
/// instance 0 has ended, what was put stays readable, and no further fence opens.
///
/// An evaluator, or a cluster without workers, gets a context of one instance; an evaluator's is offline, so
/// that it attaches to no IPU.
///
/// Throws popdist_error:
///   kInvalidArgument     the cluster or the options contradict themselves
///   kDeadlineExceeded    instances did not come in time; what() names them, peer() is the first
///   kUnavailable         an instance has ended
///   kAlreadyExists       an own port is in use, or another process is this instance
///   kFailedPrecondition  the own address is not of this host; instances have different lists, options or
///                        versions; poprun started this process
/// and the errors of registerBackend, for POPDIST_BACKEND.
std::unique_ptr<Context> contextOf(const Cluster& cluster, const ClusterOptions& options = {});

/// The same for any launcher: Context::fromEnvironment() in a process of poprun, and
/// contextOf(resolveCluster(given)) in others. It lives until the process ends, whatever becomes of the
/// pointer; another call for the same cluster and options returns the same context. Started by hand, the
/// instance ends well for the others when the process exits with 0. It has failed when the process exits with
/// another code, or at once if an exception destroys the pointer.
std::shared_ptr<Context> contextFor(const ClusterResolver* given = nullptr,
                                    const ClusterOptions& options = {});

}  // namespace popdist::train
