// SPDX-License-Identifier: Apache-2.0
#include "popdist/batch_norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "common/base/text.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/batch_norm/channel_sums.h"
#include "libpopdist/train/batch_norm/checks.h"
#include "libpopdist/train/batch_norm/replica_groups.h"
#include "popdist/error.hpp"
#include "popdist/strategy.hpp"

namespace popdist::train {
namespace {

/// Each instance's replicas. Collective; throws if options differ, or are wrong.
std::vector<ReplicaRange> instancesOf(Context& context, const BatchNormOptions& options, bool has_strategy) {
  internal::prepareOwnCalls(context);
  requireSame(context, checkOptions(options, context.numTotalReplicas()),
              {{.name = "channels", .text = std::to_string(options.channels)},
               {.name = "span", .text = std::to_string(options.span)},
               {.name = "epsilon", .text = pop::numberText(static_cast<double>(options.epsilon))},
               {.name = "momentum", .text = pop::numberText(static_cast<double>(options.momentum))},
               {.name = "the first argument", .text = has_strategy ? "a strategy" : "a context"}},
              kName);
  const std::array<int, 2> own{context.replicaIndexOffset(), context.numLocalReplicas()};
  std::vector<int> all(own.size() * static_cast<std::size_t>(context.numInstances()));
  internal::ownCommunicator(context).allGather(own.data(), all.data(), own.size(), Type::kInt32,
                                               {.tensor = kName});
  std::vector<ReplicaRange> instances;
  for (std::size_t at = 0; at < all.size(); at += own.size()) instances.push_back({all[at], all[at + 1]});
  return instances;
}

}  // namespace

class BatchNorm::Impl {
 public:
  Impl(Context& context, const BatchNormOptions& options, const std::vector<ReplicaRange>& instances,
       Strategy* strategy)
      : options_(options),
        strategy_(strategy),
        replicas_(context.numTotalReplicas()),
        local_(static_cast<std::size_t>(context.numLocalReplicas())),
        groups_(context, instances, options.span),
        everybody_(context, instances, context.numTotalReplicas()),
        running_(local_) {
    for (Running& each : running_) {
      each.mean.assign(options.channels, 0.0F);
      each.variance.assign(options.channels, 1.0F);
    }
  }

  struct Running {
    std::vector<float> mean, variance;
  };

  void forward(std::span<const BatchNormForward> replicas, BatchNormPass pass) {
    check(replicas, "train::BatchNorm::forward");
    const std::size_t each = 2 * options_.channels + 1;
    sums_.assign(local_ * each, 0.0);
    for (std::size_t i = 0; i < local_; ++i)
      addMoments({replicas[i].input, replicas[i].weights, options_.channels}, ofLocal(i, each));
    sumOverGroups("forward");
    for (std::size_t i = 0; i < local_; ++i) {
      statisticsOf(ofLocal(i, each), options_.epsilon, *replicas[i].saved);
      if (pass == BatchNormPass::kFirst) update(running_[i], ofLocal(i, each));
      normalise(replicas[i], replicas[i].saved->mean, replicas[i].saved->inverse_deviation);
    }
  }

  void backward(std::span<const BatchNormBackward> replicas) {
    check(replicas, "train::BatchNorm::backward");
    const std::size_t each = 2 * options_.channels;
    sums_.assign(local_ * each, 0.0);
    for (std::size_t i = 0; i < local_; ++i) {
      const std::span<double> sums = ofLocal(i, each);
      addGradientSums(replicas[i], sums);
      for (std::size_t c = 0; c < options_.channels; ++c) {
        replicas[i].d_beta[c] += static_cast<float>(sums[c]);
        replicas[i].d_gamma[c] += static_cast<float>(sums[options_.channels + c]);
      }
    }
    sumOverGroups("backward");
    for (std::size_t i = 0; i < local_; ++i) inputGradient(replicas[i], ofLocal(i, each));
  }

  void infer(int local_replica, const BatchNormForward& of) {
    const std::string call = "train::BatchNorm::infer";
    const Running& statistics = running(local_replica, call);
    checkArguments(of, options_.channels, call);
    std::vector<float> inverse_deviation;
    for (const float variance : statistics.variance)
      inverse_deviation.push_back(
          static_cast<float>(1.0 / std::sqrt(static_cast<double>(variance) + options_.epsilon)));
    normalise(of, statistics.mean, inverse_deviation);
  }

  Running& running(int local_replica, const std::string& call) {
    if (local_replica < 0 || static_cast<std::size_t>(local_replica) >= local_)
      refuse(call, "this instance has no local replica " + std::to_string(local_replica) + ", only 0 to " +
                       std::to_string(local_ - 1));
    return running_[static_cast<std::size_t>(local_replica)];
  }

  void averageRunning() {
    const std::size_t each = 2 * options_.channels;
    sums_.assign(local_ * each, 0.0);
    for (std::size_t i = 0; i < local_; ++i) {
      std::copy(running_[i].mean.begin(), running_[i].mean.end(), ofLocal(i, each).begin());
      std::copy(running_[i].variance.begin(), running_[i].variance.end(),
                ofLocal(i, each).subspan(options_.channels).begin());
    }
    everybody_.sum(sums_, nameOf("average"));
    for (std::size_t i = 0; i < local_; ++i) {
      for (std::size_t c = 0; c < options_.channels; ++c) {
        running_[i].mean[c] = static_cast<float>(ofLocal(i, each)[c] / replicas_);
        running_[i].variance[c] = static_cast<float>(ofLocal(i, each)[options_.channels + c] / replicas_);
      }
    }
  }

 private:
  std::span<double> ofLocal(std::size_t replica, std::size_t each) {
    return std::span(sums_).subspan(replica * each, each);
  }

  std::string nameOf(const char* call) const {
    return "BatchNorm " + std::string(call) + ' ' + std::to_string(options_.channels);
  }

  void sumOverGroups(const char* call) {
    groups_.sum(sums_, nameOf(call));
    if (strategy_ != nullptr && options_.span > 1)
      strategy_->advanceAllReduce(2 * options_.channels * sizeof(float), options_.span);
  }

  void update(Running& running, std::span<const double> moments) const {
    const double n = moments.back();
    if (!(n > 0)) return;
    const double unbiased = n > 1 ? n / (n - 1) : 1.0;
    const double share = options_.momentum;
    for (std::size_t c = 0; c < options_.channels; ++c) {
      const double mean = moments[c] / n;
      const double variance = std::max(0.0, moments[options_.channels + c] / n - mean * mean) * unbiased;
      running.mean[c] = static_cast<float>((1.0 - share) * running.mean[c] + share * mean);
      running.variance[c] = static_cast<float>((1.0 - share) * running.variance[c] + share * variance);
    }
  }

  template <typename Replica>
  void check(std::span<const Replica> replicas, const std::string& call) const {
    if (replicas.size() != local_)
      refuse(call, "expected one entry for each of the " + std::to_string(local_) + " local replicas, got " +
                       std::to_string(replicas.size()));
    for (std::size_t i = 0; i < local_; ++i) {
      const std::string where = call + ", local replica " + std::to_string(i);
      if (replicas[i].saved == nullptr) refuse(where, "saved is not set");
      checkArguments(replicas[i], options_.channels, where);
    }
  }

  const BatchNormOptions options_;
  Strategy* const strategy_;  ///< nullptr: none that counts
  const int replicas_;
  const std::size_t local_;
  ReplicaGroups groups_;
  ReplicaGroups everybody_;
  std::vector<Running> running_;
  std::vector<double> sums_;  ///< one for each local replica
};

BatchNorm::BatchNorm(Context& context, const BatchNormOptions& options) {
  impl_ = std::make_unique<Impl>(context, options, instancesOf(context, options, false), nullptr);
}
BatchNorm::BatchNorm(Strategy& strategy, const BatchNormOptions& options) {
  Context& context = strategy.context();
  impl_ = std::make_unique<Impl>(context, options, instancesOf(context, options, true), &strategy);
}
BatchNorm::~BatchNorm() = default;

void BatchNorm::forward(std::span<const BatchNormForward> replicas, BatchNormPass pass) {
  impl_->forward(replicas, pass);
}

void BatchNorm::backward(std::span<const BatchNormBackward> replicas) {
  impl_->backward(replicas);
}

void BatchNorm::infer(int local_replica, std::span<const float> input, std::span<const float> gamma,
                      std::span<const float> beta, std::span<float> output) const {
  impl_->infer(local_replica, {.input = input, .gamma = gamma, .beta = beta, .output = output});
}

std::span<float> BatchNorm::runningMean(int local_replica) {
  return impl_->running(local_replica, "train::BatchNorm::runningMean").mean;
}

std::span<float> BatchNorm::runningVariance(int local_replica) {
  return impl_->running(local_replica, "train::BatchNorm::runningVariance").variance;
}

void BatchNorm::averageRunning() {
  impl_->averageRunning();
}

}  // namespace popdist::train
