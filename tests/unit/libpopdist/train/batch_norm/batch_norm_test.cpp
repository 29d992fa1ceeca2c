// SPDX-License-Identifier: Apache-2.0
// Batch norm over groups of replicas beside the formulas on one large batch, and on other instances.
#include "popdist/batch_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "popdist/strategy.hpp"
#include "tests/unit/libpopdist/train/batch_norm/batch_norm_job.h"

namespace popdist::train::testing {
namespace {

const std::vector<std::size_t> kSamples{3, 1, 5, 2};

// A position of a channel, of one large batch: all samples of a group.
struct Term {
  Replica* replica;
  std::size_t at;
  double weight;
};

std::vector<Term> termsOf(Job& job, std::size_t group, std::size_t channel) {
  std::vector<Term> terms;
  const auto span = static_cast<std::size_t>(job.options.span);
  for (std::size_t r = group * span; r < (group + 1) * span; ++r) {
    Replica& replica = job.replicas[r];
    for (std::size_t at = channel; at < replica.input.size(); at += kChannels) {
      const std::size_t sample = at / kChannels / kPositions;
      terms.push_back(
          {&replica, at, replica.weights.empty() ? 1.0 : static_cast<double>(replica.weights[sample])});
    }
  }
  return terms;
}

struct Moments {
  double count = 0, mean = 0, variance = 0;
};

Moments momentsOf(const std::vector<Term>& terms) {
  Moments moments;
  for (const Term& term : terms) {
    moments.count += term.weight;
    moments.mean += term.weight * static_cast<double>(term.replica->input[term.at]);
  }
  moments.mean /= moments.count;
  for (const Term& term : terms)
    moments.variance +=
        term.weight * std::pow(static_cast<double>(term.replica->input[term.at]) - moments.mean, 2);
  moments.variance /= moments.count;
  return moments;
}

double outputOf(const Job& job, std::size_t channel, const Moments& moments, double input) {
  const double deviation = std::sqrt(moments.variance + static_cast<double>(job.options.epsilon));
  return static_cast<double>(job.gamma[channel]) * (input - moments.mean) / deviation +
         static_cast<double>(job.beta[channel]);
}

// The loss whose gradient with respect to outputs is d_output.
double lossOf(Job& job, std::size_t group, std::size_t channel, const Term& moved, double change) {
  const std::vector<Term> terms = termsOf(job, group, channel);
  Moments moments;
  const auto inputOf = [&](const Term& term) {
    const bool is_moved = term.replica == moved.replica && term.at == moved.at;
    return static_cast<double>(term.replica->input[term.at]) + (is_moved ? change : 0.0);
  };
  for (const Term& term : terms) {
    moments.count += term.weight;
    moments.mean += term.weight * inputOf(term);
  }
  moments.mean /= moments.count;
  for (const Term& term : terms) moments.variance += term.weight * std::pow(inputOf(term) - moments.mean, 2);
  moments.variance /= moments.count;
  double loss = 0;
  for (const Term& term : terms) {
    if (term.weight == 0.0) continue;
    loss +=
        static_cast<double>(term.replica->d_output[term.at]) * outputOf(job, channel, moments, inputOf(term));
  }
  return loss;
}

class OneLargeBatch : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  Job job_ = run(jobOf(kSamples, std::get<0>(GetParam()), std::get<1>(GetParam())), {2, 2});
  std::size_t groups_ = kSamples.size() / static_cast<std::size_t>(job_.options.span);
};

TEST_P(OneLargeBatch, GivesTheOutputsAndRunningStatistics) {
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (std::size_t group = 0; group < groups_; ++group) {
      const std::vector<Term> terms = termsOf(job_, group, channel);
      const Moments moments = momentsOf(terms);
      for (const Term& term : terms) {
        const double expected =
            term.weight == 0.0
                ? 0.0
                : outputOf(job_, channel, moments, static_cast<double>(term.replica->input[term.at]));
        ASSERT_NEAR(term.replica->output[term.at], expected, 2e-6);
        EXPECT_NEAR(term.replica->running_mean[channel], 0.25 * moments.mean, 1e-6);
        EXPECT_NEAR(term.replica->running_variance[channel],
                    0.75 + 0.25 * moments.variance * moments.count / (moments.count - 1), 1e-6);
      }
    }
  }
}

TEST_P(OneLargeBatch, GivesTheGradientsOfInputs) {
  constexpr double kStep = 1e-5;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (std::size_t group = 0; group < groups_; ++group) {
      for (const Term& term : termsOf(job_, group, channel)) {
        const double expected =
            (lossOf(job_, group, channel, term, kStep) - lossOf(job_, group, channel, term, -kStep)) /
            (2 * kStep);
        ASSERT_NEAR(term.replica->d_input[term.at], expected, 1e-5) << "weight " << term.weight;
      }
    }
  }
}

TEST_P(OneLargeBatch, GivesEachReplicaItsPartOfTheParametersGradients) {
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (std::size_t group = 0; group < groups_; ++group) {
      const std::vector<Term> terms = termsOf(job_, group, channel);
      const Moments moments = momentsOf(terms);
      const double deviation = std::sqrt(moments.variance + static_cast<double>(job_.options.epsilon));
      for (Replica& replica : job_.replicas) {
        double d_gamma = 0;
        double d_beta = 0;
        bool is_here = false;
        for (const Term& term : terms) {
          is_here = is_here || term.replica == &replica;
          if (term.replica != &replica || term.weight == 0.0) continue;
          const auto gradient = static_cast<double>(replica.d_output[term.at]);
          d_beta += gradient;
          d_gamma += gradient * (static_cast<double>(replica.input[term.at]) - moments.mean) / deviation;
        }
        if (!is_here) continue;
        EXPECT_NEAR(replica.d_gamma[channel], d_gamma, 1e-5);
        EXPECT_NEAR(replica.d_beta[channel], d_beta, 1e-5);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spans, OneLargeBatch,
                         ::testing::Combine(::testing::Values(1, 2, 4), ::testing::Bool()));

TEST(BatchNorm, GivesTheSameBitsForEverySplitOverInstances) {
  for (const int span : {1, 2, 4, 8}) {
    const Job job = jobOf({3, 1, 5, 2, 1, 0, 4, 2}, span, true);
    const Job one = run(job, {8});
    for (const std::vector<int>& split :
         {std::vector{4, 4}, std::vector{2, 2, 2, 2}, std::vector{3, 1, 3, 1}, std::vector<int>(8, 1)})
      EXPECT_TRUE(run(job, split).replicas == one.replicas) << span << ", " << split.size() << " instances";
    EXPECT_TRUE(run(job, {2, 2, 2, 2}, 2).replicas == one.replicas) << span << ", two hosts";
  }
}

TEST(BatchNorm, PaddingMayBeAnything) {
  Job padded = jobOf({2, 2}, 2, false);
  Job without = padded;
  for (Replica& replica : padded.replicas) {
    replica.weights = {1.0F, 1.0F, 0.0F};
    const std::size_t longer = replica.input.size() / 2 * 3;
    replica.input.resize(longer, std::numeric_limits<float>::infinity());
    replica.d_output.resize(longer, std::numeric_limits<float>::quiet_NaN());
  }
  padded = run(padded, {1, 1});
  without = run(without, {1, 1});
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t i = 0; i < padded.replicas[r].input.size(); ++i) {
      const bool is_there = i < without.replicas[r].input.size();
      EXPECT_EQ(padded.replicas[r].output[i], is_there ? without.replicas[r].output[i] : 0.0F);
      EXPECT_EQ(padded.replicas[r].d_input[i], is_there ? without.replicas[r].d_input[i] : 0.0F);
    }
    EXPECT_EQ(padded.replicas[r].d_gamma, without.replicas[r].d_gamma);
    EXPECT_EQ(padded.replicas[r].running_variance, without.replicas[r].running_variance);
  }
}

TEST(BatchNorm, AGroupWithoutSamplesKeepsItsStatistics) {
  const Job job = run(jobOf({0, 0, 2, 2}, 2, false), {1, 1, 1, 1});
  EXPECT_EQ(job.replicas[0].running_mean, Floats(kChannels, 0.0F));
  EXPECT_EQ(job.replicas[1].running_variance, Floats(kChannels, 1.0F));
  EXPECT_EQ(job.replicas[1].d_gamma, Floats(kChannels, 0.0F));
  EXPECT_NE(job.replicas[2].running_mean, Floats(kChannels, 0.0F));
}

TEST(BatchNorm, ASecondPassGivesTheSameAndLeavesTheStatistics) {
  Job job = jobOf({3, 2}, 2, true);
  popdist::testing::ThreadGroup({.replicas_of_instance = {1, 1}}).run([&](Context& context) {
    const std::span<Replica> local = localOf(job, context);
    BatchNorm layer(context, job.options);
    layer.forward(forwardOf(job, local));
    const Floats output = local[0].output;
    const Floats mean(layer.runningMean(0).begin(), layer.runningMean(0).end());
    layer.forward(forwardOf(job, local), BatchNormPass::kAgain);
    EXPECT_EQ(local[0].output, output);
    EXPECT_EQ(Floats(layer.runningMean(0).begin(), layer.runningMean(0).end()), mean);
    layer.forward(forwardOf(job, local));
    EXPECT_NE(Floats(layer.runningMean(0).begin(), layer.runningMean(0).end()), mean);
  });
}

TEST(BatchNorm, InfersByTheRunningStatistics) {
  Job job = jobOf({2}, 1, false);
  popdist::testing::ThreadGroup(1).run([&](Context& context) {
    BatchNorm layer(context, job.options);
    std::fill_n(layer.runningMean(0).begin(), kChannels, 0.5F);
    std::fill_n(layer.runningVariance(0).begin(), kChannels, 4.0F);
    const Floats input = randomFloats(5 * kChannels, 9);
    Floats output(input.size());
    layer.infer(0, input, job.gamma, job.beta, output);
    for (std::size_t i = 0; i < input.size(); ++i)
      EXPECT_NEAR(output[i], job.gamma[i % kChannels] * (input[i] - 0.5F) / 2.0F + job.beta[i % kChannels],
                  1e-5);
  });
}

TEST(BatchNorm, AveragesTheStatisticsOfAllGroups) {
  for (const std::vector<int>& split : {std::vector{4}, std::vector{2, 2}, std::vector{1, 1, 1, 1}}) {
    popdist::testing::ThreadGroup({.replicas_of_instance = split}).run([&](Context& context) {
      BatchNorm layer(context, {.channels = 1, .span = 2});
      for (int local = 0; local < context.numLocalReplicas(); ++local) {
        const int group = (context.replicaIndexOffset() + local) / 2;
        layer.runningMean(local)[0] = static_cast<float>(group);
        layer.runningVariance(local)[0] = static_cast<float>(2 + 2 * group);
      }
      layer.averageRunning();
      for (int local = 0; local < context.numLocalReplicas(); ++local) {
        EXPECT_EQ(layer.runningMean(local)[0], 0.5F);
        EXPECT_EQ(layer.runningVariance(local)[0], 3.0F);
      }
    });
  }
}

// Forwards and backwards an all-reduce of two floats a channel, among each pair.
TEST(BatchNorm, ThePodsClockCountsItsCollectives) {
  for (const int span : {1, 2}) {
    popdist::testing::ThreadGroup group({.replicas_of_instance = {1, 1, 2}});
    group.run([span](Context& context) {
      PopDistStrategy strategy(context);
      testing::Job job = testing::jobOf({4, 4, 4, 4}, span, false);
      BatchNorm norm(strategy, job.options);
      const std::span<testing::Replica> local =
          std::span(job.replicas)
              .subspan(static_cast<std::size_t>(strategy.firstReplica()),
                       static_cast<std::size_t>(strategy.numLocalReplicas()));
      norm.forward(testing::forwardOf(job, local));
      const SimulatedTime forward = strategy.pod().time();
      norm.backward(testing::backwardOf(job, local));
      EXPECT_EQ(strategy.pod().time(), 2 * forward);
      EXPECT_EQ(strategy.pod().times().all_reduce, 2 * forward);
      Pod pod(context);
      pod.advanceAllReduce(2 * testing::kChannels * sizeof(float), 2);
      EXPECT_EQ(forward, span == 1 ? SimulatedTime(0) : pod.time());
    });
  }
}

}  // namespace
}  // namespace popdist::train::testing
