// SPDX-License-Identifier: Apache-2.0
// The formulas: throughput of data-parallel training, and how far a share that stays constant lets it grow.
#pragma once

#include <limits>
#include <optional>
#include <vector>

namespace pop::scaling {

/// Constants of a training's throughput: R · MBS · GA / (GA · T_MB + T_AR).
struct Constants {
  double micro_batch_s = 0;  ///< T_MB: every replica has processed a micro-batch
  double exchange_s = 0;     ///< T_AR: gradients are exchanged, and the weights updated
};

/// Samples a second.
double throughput(const Constants& constants, double replicas, double micro_batch, double accumulation);

struct UpdateTime {
  double accumulation = 1;
  double seconds = 0;  ///< an update's, without waiting for input
};

/// Least squares. Nothing: less than two different accumulations, or they contradict the model (a constant
/// would be negative).
std::optional<Constants> fitConstants(const std::vector<UpdateTime>& times);

/// Amdahl's law: the same work; a `constant` share (0 to 1) of the time stays, the rest is `factor` times as
/// quick. 0.5 and 4 give 1.6.
inline double amdahlSpeedup(double constant, double factor) {
  return 1 / (constant + (1 - constant) / factor);
}
/// Its limit, however large the factor.
inline double amdahlLimit(double constant) {
  return constant > 0 ? 1 / constant : std::numeric_limits<double>::infinity();
}
/// Gustafson's law: the work grows with the factor, the constant share is done once. 0.5 and 4 give 2.5.
inline double gustafsonSpeedup(double constant, double factor) {
  return constant + (1 - constant) * factor;
}

struct SampleTime {
  double replicas = 1;
  double seconds = 0;  ///< per sample: 1 / throughput
};

/// The share of a sample's time with the fewest replicas that stays when there are more, by least squares.
/// Nothing: all have as many.
std::optional<double> fitConstantShare(const std::vector<SampleTime>& times);

}  // namespace pop::scaling
