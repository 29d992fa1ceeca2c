// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/batch_norm/channel_sums.h"

#include <algorithm>
#include <cmath>

namespace popdist::train {
namespace {

/// For each sample that has a weight: function(the weight, where its values begin, where they end).
template <typename Function>
void forEachSample(std::size_t elements, std::span<const float> weights, Function function) {
  if (weights.empty()) {
    function(1.0F, std::size_t{0}, elements);
    return;
  }
  const std::size_t each = elements / weights.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0.0F) function(weights[i], i * each, (i + 1) * each);
  }
}

/// Sets values that belong to padding to 0.
void clearPadding(std::span<float> values, std::span<const float> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t each = values.size() / weights.size();
    if (!(weights[i] > 0.0F)) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i * each), each, 0.0F);
  }
}

}  // namespace

void addMoments(const WeighedSamples& samples, std::span<double> sums) {
  const std::size_t channels = samples.channels;
  double* const first = sums.data();
  double* const second = first + channels;
  double& count = sums.back();
  forEachSample(samples.input.size(), samples.weights, [&](float weight, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += channels) {
      const float* const values = samples.input.data() + at;
      for (std::size_t c = 0; c < channels; ++c) {
        const double value = values[c];
        first[c] += weight * value;
        second[c] += weight * (value * value);
      }
    }
    count += static_cast<double>(weight) * static_cast<double>((end - begin) / channels);
  });
}

void statisticsOf(std::span<const double> moments, float epsilon, BatchNormSaved& saved) {
  const std::size_t channels = moments.size() / 2;
  saved.count = moments.back();
  saved.mean.assign(channels, 0.0F);
  saved.inverse_deviation.assign(channels, 0.0F);
  if (!(saved.count > 0)) return;
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = moments[c] / saved.count;
    const double variance = std::max(0.0, moments[channels + c] / saved.count - mean * mean);
    saved.mean[c] = static_cast<float>(mean);
    saved.inverse_deviation[c] = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(epsilon)));
  }
}

void normalise(const BatchNormForward& of, std::span<const float> mean,
               std::span<const float> inverse_deviation) {
  const std::size_t channels = mean.size();
  forEachSample(of.input.size(), of.weights, [&](float, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += channels) {
      for (std::size_t c = 0; c < channels; ++c) {
        const float x_hat = (of.input[at + c] - mean[c]) * inverse_deviation[c];
        of.output[at + c] = of.gamma[c] * x_hat + of.beta[c];
      }
    }
  });
  clearPadding(of.output, of.weights);
}

void addGradientSums(const BatchNormBackward& of, std::span<double> sums) {
  const std::size_t channels = of.gamma.size();
  double* const plain = sums.data();
  double* const times_x_hat = plain + channels;
  const float* const mean = of.saved->mean.data();
  const float* const inverse_deviation = of.saved->inverse_deviation.data();
  forEachSample(of.input.size(), of.weights, [&](float, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += channels) {
      for (std::size_t c = 0; c < channels; ++c) {
        const double gradient = of.d_output[at + c];
        plain[c] += gradient;
        times_x_hat[c] += gradient * static_cast<double>((of.input[at + c] - mean[c]) * inverse_deviation[c]);
      }
    }
  });
}

// d_x = gamma / deviation * (d_y - w / n * (sum(d_y) + x_hat * sum(d_y x_hat)))
void inputGradient(const BatchNormBackward& of, std::span<const double> sums) {
  const std::size_t channels = of.gamma.size();
  const BatchNormSaved& saved = *of.saved;
  forEachSample(of.input.size(), of.weights, [&](float weight, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += channels) {
      for (std::size_t c = 0; c < channels; ++c) {
        const float x_hat = (of.input[at + c] - saved.mean[c]) * saved.inverse_deviation[c];
        const double through_statistics = weight / saved.count * (sums[c] + x_hat * sums[channels + c]);
        of.d_input[at + c] =
            static_cast<float>(of.gamma[c] * static_cast<double>(saved.inverse_deviation[c]) *
                               (of.d_output[at + c] - through_statistics));
      }
    }
  });
  clearPadding(of.d_input, of.weights);
}

}  // namespace popdist::train
