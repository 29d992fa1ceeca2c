// SPDX-License-Identifier: Apache-2.0
// Exchange of parameters and gradients between replicas of a data-parallel program. A training program names
// one strategy, in one line; the rest of it is the same for all.
//
//   strategy                  one of       reduction of gradients
//   PopDistStrategy           a Pod        on the device (GCL), between all replicas
//   IpuMultiWorkerStrategy    IPU servers  over the devices' links inside an instance, then between hosts
//   IpuHorovodStrategy        IPU servers  the same
//   HpuStrategy               HPUs         between hosts, one device an instance, a few types
//   SingleStrategy            one system   over the devices' links
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "popdist/async.hpp"
#include "popdist/communicator.hpp"
#include "popdist/context.hpp"
#include "popdist/fused.hpp"
#include "popdist/parameters.hpp"
#include "popdist/pod.hpp"
#include "popdist/state_sharing.hpp"

namespace popdist::train {

class DeviceClock;  // internal

/// The sum of gradients over all replicas of the job, one update after the other: ready() for each parameter
/// and replica as its gradient is final, then wait(). Made by Strategy::reductionOf.
class GradientReduction {
 public:
  virtual ~GradientReduction() = default;

  /// The gradient of `parameter` on local replica `replica` has its values of this update; the caller leaves
  /// it alone until wait(). Any order, once each. A strategy may begin to reduce it.
  virtual void ready(int replica, std::size_t parameter) = 0;

  /// Asks, before the first update, for reduced(parameter) as soon as its sum is there on the first local
  /// replica, perhaps long before wait(): in a thread of the strategy, one parameter after the other. All
  /// calls have returned when wait() does, which throws what they throw. False: this strategy has all sums at
  /// once, and calls nothing.
  virtual bool onReduced(std::function<void(std::size_t parameter)>) { return false; }

  /// Returns when the first local replica's gradients are the sums, as far as this instance needs them; those
  /// of the others are undefined. Collective: every instance. Throws as the collectives of the strategy.
  virtual void wait() = 0;
};

class Strategy {
 public:
  /// Called by every instance, with strategies of the same name and options. Costs a communicator of all
  /// instances, once, and a small all-reduce. Throws as Context::createCommunicator, and popdist_error
  /// kFailedPrecondition, on all instances, where they differ.
  explicit Strategy(Context& context) : Strategy(context, "of the program", "") {}
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  virtual std::string_view name() const = 0;
  Context& context() const { return *context_; }

  int numReplicas() const { return context_->numTotalReplicas(); }  ///< in sync, of the job
  int numLocalReplicas() const { return context_->numLocalReplicas(); }
  int firstReplica() const { return context_->replicaIndexOffset(); }
  int numWorkers() const { return context_->numInstances(); }

  /// `gradients`: one for each local replica, at these addresses for ever, all with the same spec. Callers:
  /// every instance, in the same order.
  virtual std::unique_ptr<GradientReduction> reductionOf(std::span<FlatTensors> gradients) = 0;
  /// The same for an update that reads a part in each instance: a strategy need not give it more. All
  /// instances pass the same.
  virtual std::unique_ptr<GradientReduction> reductionOfParts(std::span<FlatTensors> gradients,
                                                              const StateSharing&) {
    return reductionOf(gradients);
  }

  /// All replicas of the job get the values of the first replica of instance 0. `values`: one for each local
  /// replica. Collective, over the host. Throws as Communicator::broadcast, and popdist_error
  /// kFailedPrecondition, on all instances, where their tensors are others.
  void broadcast(std::span<FlatTensors> values);

  /// True if parameters and the optimizer's state live on the host: devices have copies of the parameters,
  /// which they get by load() after each update.
  virtual bool variablesOnHost() const { return false; }
  /// The local replicas' copies become the host's values. Local.
  virtual void load(const FlatTensors& host, std::span<FlatTensors> replicas);

  /// values[i] = `op` over all instances' values[i]: metrics, on the host. Collective.
  void reduce(std::span<double> values, Operator op = Operator::kSum);

  /// The Pod that the replicas run on, with its system, clock and times of collectives; null: the strategy
  /// has none. It lives as long as the strategy. Local.
  virtual const Pod* simulatedPod() const { return nullptr; }

  /// A replica has computed so many floating-point operations: a Pod's clock advances. All instances call it
  /// with the same number.
  virtual void advanceCompute(double) {}
  /// The same for a time that is known.
  virtual void advance(SimulatedTime) {}
  /// Likewise, for what is no computation: see Pod.
  virtual void advanceStreaming(SimulatedTime) {}
  virtual void advanceAllGather(std::size_t /*bytes*/, int /*replicas_per_group*/) {}
  virtual void advanceAllReduce(std::size_t /*bytes*/, int /*replicas_per_group*/) {}

 protected:
  Strategy(Context& context, std::string_view name, const std::string& options);

 private:
  Context* context_;
};

class PopDistStrategy final : public Strategy {
 public:
  /// Costs and throws as Pod.
  explicit PopDistStrategy(Context& context);

  std::string_view name() const override { return "popdist"; }
  std::unique_ptr<GradientReduction> reductionOf(std::span<FlatTensors> gradients) override;
  /// A reduce-scatter in place of an all-reduce: the same bits.
  std::unique_ptr<GradientReduction> reductionOfParts(std::span<FlatTensors> gradients,
                                                      const StateSharing& sharing) override;
  void advanceCompute(double flops) override { pod_.advanceCompute(flops); }
  void advance(SimulatedTime time) override { pod_.advance(time); }
  void advanceStreaming(SimulatedTime time) override { pod_.advanceStreaming(time); }
  void advanceAllGather(std::size_t bytes, int replicas_per_group) override {
    pod_.advanceAllGather(bytes, replicas_per_group);
  }
  void advanceAllReduce(std::size_t bytes, int replicas_per_group) override {
    pod_.advanceAllReduce(bytes, replicas_per_group);
  }

  const Pod* simulatedPod() const override { return &pod_; }
  Pod& pod() { return pod_; }

 private:
  Pod pod_;
  std::shared_ptr<void> told_;  // told of failures
};

/// Simulated, of each of an instance's replicas, which work side by side.
struct DeviceTimes {
  SimulatedTime all{0};    ///< the times below, and advance()
  SimulatedTime links{0};  ///< sums of the instance's replicas, and copies to each of them
  SimulatedTime host{0};   ///< on the way to the host and back
  /// Over the replica's link to its host: gradients out; and in, their sums or the new parameters. Replicas
  /// share the work, so it is a part of the tensors for each.
  std::uint64_t out_bytes = 0;
  std::uint64_t in_bytes = 0;
};

/// The strategies that reduce on hosts: first the replicas of an instance, in their order, then the
/// instances, a bucket of gradients at a time while others are still being computed. The sum is the same on
/// all instances; how replicas are split over instances shows in its last bits.
class HostStrategy : public Strategy {
 public:
  ~HostStrategy() override;
  std::string_view name() const override { return name_; }
  std::unique_ptr<GradientReduction> reductionOf(std::span<FlatTensors> gradients) override;
  bool variablesOnHost() const override { return variables_on_host_; }
  void load(const FlatTensors& host, std::span<FlatTensors> replicas) override;
  void advanceCompute(double flops) override;
  void advance(SimulatedTime time) override;

  /// Times of IPUs, as the system's model has them (docs/adr/0007); transfers that a backward pass hides
  /// count as the others. Zeros for HPUs, and times of zero for replicas that fit no system.
  const DeviceTimes& deviceTimes() const;

 protected:
  enum class Devices { kIpus, kHpus };
  /// Costs and throws as Context::createCommunicator.
  HostStrategy(Context& context, std::string_view name, const FusionOptions& fusion,
               bool variables_on_host = false, Devices devices = Devices::kIpus);

 private:
  std::string_view name_;
  FusionOptions fusion_;
  bool variables_on_host_;
  std::unique_ptr<DeviceClock> clock_;
  AsyncCommunicator members_;
  std::shared_ptr<void> told_;  // told of failures
  int reductions_ = 0;
};

struct IpuMultiWorkerOptions {
  FusionOptions fusion{};
  /// Backward passes on the devices, updates on the host: devices keep no state of the optimizer. Gradients
  /// go to the host, and new parameters come back. A parameter is updated as soon as its gradient has been
  /// reduced, while others are computed, unless the update needs all gradients at once
  /// (WeightUpdate::canUpdateByParameter): then it waits for them. Bits are the same.
  bool variables_on_host = false;
};

/// TensorFlow's IPUMultiWorkerStrategyV1. For the ring over gRPC that it has there: POPDIST_BACKEND=grpc.
class IpuMultiWorkerStrategy final : public HostStrategy {
 public:
  explicit IpuMultiWorkerStrategy(Context& context, const IpuMultiWorkerOptions& options = {})
      : HostStrategy(context, "multiworker", options.fusion, options.variables_on_host) {}
};

/// TensorFlow's IPUHorovodStrategyV1.
class IpuHorovodStrategy final : public HostStrategy {
 public:
  explicit IpuHorovodStrategy(Context& context, const FusionOptions& fusion = {})
      : HostStrategy(context, "horovod", fusion) {}
};

/// A single system without other instances.
class SingleStrategy final : public HostStrategy {
 public:
  /// Throws popdist_error kFailedPrecondition in a job of several instances.
  explicit SingleStrategy(Context& context);
};

/// Habana's HPUStrategy: one device an instance. Gradients are packed into one all-reduce.
class HpuStrategy final : public HostStrategy {
 public:
  struct Options {
    bool bfloat16_conversion = false;  ///< bfloat16 is carried by broadcasts and all-gathers, too
  };
  enum class Call { kReduce, kBroadcastSend, kBroadcastReceive, kAllGather, kAllToAll };

  /// Throws popdist_error kInvalidArgument for an instance of several replicas.
  explicit HpuStrategy(Context& context) : HpuStrategy(context, Options{}) {}
  HpuStrategy(Context& context, const Options& options);

  /// True if the device's collectives carry a type: HPUStrategy's table.
  static bool supports(Call call, Type type, const Options& options);

  /// By hand. data[i] = the sum of all instances' data[i]. These throw popdist_error kInvalidArgument for a
  /// type that is not in the table, with those that are and the way over the host; otherwise as Communicator.
  void reduce(void* data, std::size_t count, Type type);
  /// The leader sends what all others receive.
  void broadcastSend(const void* data, std::size_t count, Type type);
  void broadcastReceive(void* data, std::size_t count, Type type);
  /// out: `count` elements of each instance, in their order.
  void allGather(const void* in, void* out, std::size_t count, Type type);
  using Strategy::reduce;

  std::unique_ptr<GradientReduction> reductionOf(std::span<FlatTensors> gradients) override;

 private:
  void check(Call call, Type type) const;

  Options options_;
};

/// "popdist", "multiworker", "horovod", "hpu" or "single". Throws popdist_error kInvalidArgument, with these
/// names, for another one, and as the constructors.
std::unique_ptr<Strategy> strategyNamed(std::string_view name, Context& context);

}  // namespace popdist::train
