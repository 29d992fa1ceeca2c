// SPDX-License-Identifier: Apache-2.0
// Batch norm whose statistics are those of several replicas. Micro-batches of a replica may be too small for
// statistics of their own; groups of `span` consecutive replicas share theirs, by one small all-reduce
// forwards and one backwards. Guide: docs/guide/batch_norm.md.
//
// For each channel, with n the sum of weights, over all positions i of all samples of the group's replicas:
//   mean = sum(w x) / n,  variance = sum(w (x - mean)^2) / n
//   output = gamma * x_hat + beta,  x_hat = (x - mean) / sqrt(variance + epsilon)
// A sample of weight 0, such as padding, takes no part: its output and d_input are 0, and its input and
// d_output may be anything.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "popdist/context.hpp"

namespace popdist::train {

class Strategy;

struct BatchNormOptions {
  std::size_t channels = 0;
  int span = 1;           ///< replicas of a group; divides the job's
  float epsilon = 1e-5F;  ///< above 0
  float momentum = 0.1F;  ///< running = (1 - momentum) * running + momentum * the batch's; 0 to 1
};

/// Results of forward() that its backward() needs. Every micro-batch in flight has one of its own.
struct BatchNormSaved {
  std::vector<float> mean{}, inverse_deviation{};  ///< one for each channel
  double count = 0;                                ///< n
};

/// One replica's arguments of forward(). Channels lie innermost: `input` is samples x positions x channels;
/// each replica may have another number of samples, none too. `output` may be `input`, which backward()
/// needs, too.
struct BatchNormForward {
  std::span<const float> input{};
  std::span<const float> gamma{}, beta{};  ///< channels
  std::span<float> output{};               ///< as long as input
  BatchNormSaved* saved = nullptr;
  std::span<const float> weights{};  ///< one for each sample, 0 or more; empty: all 1
};

/// And to backward(): all of the same micro-batch.
struct BatchNormBackward {
  std::span<const float> input{};
  std::span<const float> gamma{};
  std::span<const float> d_output{};
  const BatchNormSaved* saved = nullptr;
  std::span<float> d_input{};            ///< as long as input; may be d_output
  std::span<float> d_gamma{}, d_beta{};  ///< added to
  std::span<const float> weights{};
};

/// kFirst: forward() has not had these samples before. A second pass computes the same bits and leaves the
/// running statistics alone: for activations that were not kept (recomputation).
enum class BatchNormPass { kFirst, kAgain };

/// One layer, in all replicas of this instance.
///
/// Order of sums: in double, first within each replica, then over the group in order of replica. Results do
/// not depend on how the replicas are split over instances, to the bit, and are the same in all replicas of a
/// group.
/// Threads: one call at a time. Callers: where "collective" is said, every instance, in the same order.
/// Errors: popdist_error kInvalidArgument for arguments of this instance alone: nothing has happened, and the
/// others wait for its call. Otherwise as Communicator; the layer is then unusable.
/// With a strategy in place of a context, a Pod's clock counts forward()'s and backward()'s collectives: of
/// two floats for each channel and group.
class BatchNorm {
 public:
  /// Collective. Cost: as Context::createCommunicator for each set of instances that have groups in common,
  /// unless these are all. Throws popdist_error kInvalidArgument (an option is out of range, or `span` does
  /// not divide the job's replicas) or kFailedPrecondition (instances have other options).
  BatchNorm(Context& context, const BatchNormOptions& options);
  /// The strategy must outlive this.
  BatchNorm(Strategy& strategy, const BatchNormOptions& options);
  ~BatchNorm();
  BatchNorm(const BatchNorm&) = delete;
  BatchNorm& operator=(const BatchNorm&) = delete;

  /// One entry for each local replica. Collective. Sends 8 * (2 * channels + 1) bytes for each local replica,
  /// and nothing where no group lies in several instances. A group without weight
  /// (n = 0) keeps its running statistics.
  void forward(std::span<const BatchNormForward> replicas, BatchNormPass pass = BatchNormPass::kFirst);

  /// The gradients of all replicas' losses together with respect to this replica's input, through the
  /// statistics too. d_gamma and d_beta are this replica's part: they are summed over all replicas with the
  /// other gradients. Collective. Cost as forward().
  void backward(std::span<const BatchNormBackward> replicas);

  /// output = batch norm by the running statistics of a local replica's group. Not collective.
  void infer(int local_replica, std::span<const float> input, std::span<const float> gamma,
             std::span<const float> beta, std::span<float> output) const;

  /// The running statistics of a local replica's group, which begin with 0 and 1: to read, and to set when a
  /// training is resumed. The variance is that of the samples' source: n / (n - 1) times the batch's.
  std::span<float> runningMean(int local_replica);
  std::span<float> runningVariance(int local_replica);

  /// Every replica's running statistics become the mean over all groups: before they are saved once for all.
  /// Collective.
  void averageRunning();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist::train
