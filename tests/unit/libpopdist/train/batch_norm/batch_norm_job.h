// SPDX-License-Identifier: Apache-2.0
// A layer of batch norm in all replicas of a job, whose instances are threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/random.h"
#include "popdist/batch_norm.hpp"
#include "tests/testing/thread_group.h"

namespace popdist::train::testing {

using Floats = std::vector<float>;

inline Floats randomFloats(std::size_t count, std::uint64_t seed) {
  pop::SplitMix64 random(seed);
  Floats floats(count);
  for (float& value : floats) value = static_cast<float>(3.0 * random.unit() - 1.0);
  return floats;
}

/// One replica's input and output.
struct Replica {
  Floats input, weights, d_output;
  Floats output, d_input, d_gamma, d_beta, running_mean, running_variance;
  BatchNormSaved saved;

  friend bool operator==(const Replica& a, const Replica& b) {
    return a.output == b.output && a.d_input == b.d_input && a.d_gamma == b.d_gamma && a.d_beta == b.d_beta &&
           a.running_mean == b.running_mean && a.running_variance == b.running_variance;
  }
};

struct Job {
  BatchNormOptions options;
  Floats gamma, beta;
  std::vector<Replica> replicas;
};

inline constexpr std::size_t kChannels = 3;
inline constexpr std::size_t kPositions = 4;  ///< per sample

/// Replica r has samples[r] samples, whose weights are 1, or `weights` of them, different ones.
inline Job jobOf(const std::vector<std::size_t>& samples, int span, bool weighted) {
  Job job{.options = {.channels = kChannels, .span = span, .momentum = 0.25F},
          .gamma = randomFloats(kChannels, 1),
          .beta = randomFloats(kChannels, 2),
          .replicas = {}};
  for (std::size_t r = 0; r < samples.size(); ++r) {
    const std::size_t elements = samples[r] * kPositions * kChannels;
    Replica replica{.input = randomFloats(elements, 10 + r), .d_output = randomFloats(elements, 50 + r)};
    for (std::size_t i = 0; weighted && i < samples[r]; ++i)
      replica.weights.push_back((i + r) % 3 == 0 ? 0.0F : 0.5F * static_cast<float>((i + r) % 3));
    job.replicas.push_back(std::move(replica));
  }
  return job;
}

inline std::vector<BatchNormForward> forwardOf(const Job& job, std::span<Replica> replicas) {
  std::vector<BatchNormForward> calls;
  for (Replica& each : replicas) {
    each.output.resize(each.input.size());
    calls.push_back({.input = each.input,
                     .gamma = job.gamma,
                     .beta = job.beta,
                     .output = each.output,
                     .saved = &each.saved,
                     .weights = each.weights});
  }
  return calls;
}

inline std::vector<BatchNormBackward> backwardOf(const Job& job, std::span<Replica> replicas) {
  std::vector<BatchNormBackward> calls;
  for (Replica& each : replicas) {
    each.d_input.resize(each.input.size());
    each.d_gamma.resize(kChannels);
    each.d_beta.resize(kChannels);
    calls.push_back({.input = each.input,
                     .gamma = job.gamma,
                     .d_output = each.d_output,
                     .saved = &each.saved,
                     .d_input = each.d_input,
                     .d_gamma = each.d_gamma,
                     .d_beta = each.d_beta,
                     .weights = each.weights});
  }
  return calls;
}

inline std::span<Replica> localOf(Job& job, const Context& context) {
  return std::span(job.replicas)
      .subspan(static_cast<std::size_t>(context.replicaIndexOffset()),
               static_cast<std::size_t>(context.numLocalReplicas()));
}

inline void keepRunning(BatchNorm& layer, std::span<Replica> replicas) {
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto mean = layer.runningMean(static_cast<int>(i));
    const auto variance = layer.runningVariance(static_cast<int>(i));
    replicas[i].running_mean.assign(mean.begin(), mean.end());
    replicas[i].running_variance.assign(variance.begin(), variance.end());
  }
}

/// Forward and backward on instances that hold so many replicas each.
inline Job run(Job job, const std::vector<int>& replicas_of_instance, int instances_per_host = 0) {
  popdist::testing::ThreadGroup(
      {.replicas_of_instance = replicas_of_instance, .instances_per_host = instances_per_host})
      .run([&](Context& context) {
        const std::span<Replica> local = localOf(job, context);
        BatchNorm layer(context, job.options);
        layer.forward(forwardOf(job, local));
        layer.backward(backwardOf(job, local));
        keepRunning(layer, local);
      });
  return job;
}

}  // namespace popdist::train::testing
