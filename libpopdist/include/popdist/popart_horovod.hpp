// SPDX-License-Identifier: Apache-2.0
// Horovod for PopART: a session whose stages are functions of the program, and the calls that make its
// training one of several processes. Broadcast and all-reduce are all that it has. Guide:
// docs/guide/popart_horovod.md.
//
//   popart::SessionOptions options;
//   options.host_all_reduce = true;
//   const auto context = hvd::init();
//   popart::Session session(*context, model, {32, {{"loss", popart::AnchorReturnType("All")}}}, options);
//   hvd::DistributedOptimizer optimizer(train::sgd(0.1), session, options);
//   optimizer.insertHostAllReduce();
//   hvd::broadcastWeights(session, 0);
//   for (int step = 0; step < 10; ++step) print(session.run(infeed).get<float>("loss"));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/held.hpp"
#include "popdist/infeed.hpp"
#include "popdist/optimizer.hpp"
#include "popdist/parameters.hpp"
#include "popdist/trainer.hpp"

namespace popdist::popart {

/// Selection of a tensor's values that a run gives back. R replicas of this instance, GA micro-batches of an
/// update; dimensions of 1 among those in front are left out, the tensor's own never:
///
///   "Final"      the last micro-batch's                  [R, …]
///   "EveryN", n  those of every n-th batch               [batches_per_step / n, GA, R, …]
///   "All"        all                                     [batches_per_step, GA, R, …]
///   "Sum"        the sum over batches and micro-batches  [R, …]
class AnchorReturnType {
 public:
  enum class Id : std::uint8_t { kFinal, kEveryN, kAll, kSum };

  /// A name of the table, in any case. Throws popdist_error kInvalidArgument for another one, and unless
  /// "EveryN" alone has a `period`, of at least 1.
  explicit AnchorReturnType(std::string_view name, int period = 0);

  Id id() const { return id_; }
  int period() const { return period_; }

 private:
  Id id_;
  int period_;
};

struct DataFlow {
  int batches_per_step = 1;  ///< weight updates (in inference: micro-batches of a replica) of a run
  std::map<std::string, AnchorReturnType> anchors{};  ///< by names of Model::values
};

enum class MergeVarUpdate : std::uint8_t { kNone, kAll, kAutoLoose, kAutoTight };

/// PopART's options that touch distributed training; the emulation has one memory, so some change no result.
struct SessionOptions {
  bool host_all_reduce = false;                ///< gradients are averaged over the processes, on the host
  bool host_weight_update = false;             ///< and weights are updated there
  bool host_all_reduce_remote_buffer = false;  ///< gradients get there by remote buffers
  MergeVarUpdate merge_var_update = MergeVarUpdate::kNone;
  bool enable_pipelining = false;  ///< stages on IPUs of their own; the weights are the same
  bool enable_gradient_accumulation = false;
  int accumulation_factor = 1;
  bool enable_replicated_graphs = false;
  int replicated_graph_count = 1;  ///< this instance's: poprun's --num-replicas / --num-instances
  /// Reduction of gradients over the micro-batches and the replicas of an instance. Over processes they are
  /// averaged.
  train::Reduction accumulation_and_replication_reduction = train::Reduction::kSum;

  friend bool operator==(const SessionOptions&, const SessionOptions&) = default;
};

/// One micro-batch on one replica, in a stage.
struct Batch {
  const Tensors& input;
  ConstTensorRefs weights;
  TensorRefs values;     ///< Model::values: what the stages before have written, and this one writes
  TensorRefs gradients;  ///< the weights': a backward function adds to them
};

struct Stage {
  std::string name{};
  std::function<void(const Batch&)> forward{};
  std::function<void(const Batch&)> backward{};  ///< training needs it
};

struct Model {
  train::Parameters weights{};
  Spec values{};                ///< activations, gradients of them, outputs, the loss: what anchors may name
  std::vector<Stage> stages{};  ///< forward in their order, then backward in the reverse one
};

enum class Mode : std::uint8_t { kTraining, kInference };

/// A value of an optimizer that may change between runs: PopART's (0.1, False). Copies are the same value.
/// All processes set the same.
class OptimizerValue {
 public:
  explicit OptimizerValue(double value, bool is_const = true)
      : value_(std::make_shared<double>(value)), is_const_(is_const) {}

  double value() const { return *value_; }
  /// Do not call it while a run goes on. Throws popdist_error kFailedPrecondition for a constant one.
  void set(double value);
  operator train::LearningRate() const;

 private:
  std::shared_ptr<double> value_;
  bool is_const_;
};

/// Trains, or infers, with a train::Trainer and the IpuHorovodStrategy. From one thread.
class Session {
 public:
  /// Local. `context` must outlive it. The weights are drawn by `seed`, which each process may have of its
  /// own. Throws popdist_error kInvalidArgument: options that exclude each other (the guide lists them) or
  /// do not fit the context; a model without stages, or with one that lacks a function; a period that does
  /// not divide batches_per_step. kNotFound: an anchor that is no value of the model.
  Session(Context& context, Model model, DataFlow data_flow, const SessionOptions& options = {},
          Mode mode = Mode::kTraining, std::uint64_t seed = 42);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// batches_per_step updates, whose micro-batches `infeed` gives; returns the anchors by their names, in the
  /// shapes of AnchorReturnType. Training is collective, and needs the calls of hvd: throws popdist_error
  /// kFailedPrecondition naming the one that is missing; and as Trainer::run.
  Tensors run(io::Infeed& infeed);

  /// The same on all replicas. Valid until the session goes, or insertHostAllReduce() is called.
  ConstTensorRefs weights() const;
  /// On this instance's replicas. Throws popdist_error kInvalidArgument for other tensors than the model's.
  void setWeights(ConstTensorRefs weights);

  class Impl;  // internal
  Impl& impl() { return *impl_; }

 private:
  popdist::detail::Held<Impl, "Session"> impl_;
};

}  // namespace popdist::popart

namespace popdist::hvd {

/// The context of this process among those that train: poprun's (or horovodrun's, its other name), those of
/// TF_CONFIG, or this one alone. Hold it as long as anything uses it. Throws as train::contextFor.
std::shared_ptr<Context> init();

/// `rate` · processes: each update sees as many times the samples.
double scaledRate(double rate, const Context& context);

class DistributedOptimizer {
 public:
  /// Throws popdist_error kFailedPrecondition without SessionOptions::host_all_reduce, and kInvalidArgument
  /// for other options than the session's.
  DistributedOptimizer(train::Optimizer optimizer, popart::Session& session,
                       const popart::SessionOptions& options);

  /// From now on the session's updates average gradients over all processes. Collective. In inference there
  /// are none: says so on stderr, and does nothing. Throws as train::Trainer; kFailedPrecondition the second
  /// time, and where processes treat denormals differently.
  void insertHostAllReduce();

 private:
  train::Optimizer optimizer_;
  popart::Session& session_;
};

/// All processes get the weights of `root_rank`. Collective; after insertHostAllReduce(). Throws
/// popdist_error kInvalidArgument for a rank that is not there, kFailedPrecondition before
/// insertHostAllReduce() in a training, and as Communicator::broadcast.
void broadcastWeights(popart::Session& session, int root_rank = 0);

}  // namespace popdist::hvd
