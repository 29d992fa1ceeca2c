// SPDX-License-Identifier: Apache-2.0
// Conclusions from the speeds of one program with real, generated and synthetic data. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace popdist::data {

/// Samples per second with each kind of data.
struct Speeds {
  int replicas = 0;  ///< 0: the command's own
  double real = 0;
  double generated = 0;
  double synthetic = 0;
};

enum class Verdict : std::uint8_t {
  kModel,     ///< the input is quick enough
  kReading,   ///< reading the dataset, or map()
  kTransfer,  ///< the way to the device
  kHost,      ///< the host's input, more so with more replicas
  kNoise,     ///< real data cannot be quicker than none
};

/// `rows` has at least one, with ascending replicas. Differences below a tenth are noise.
Verdict verdictOf(const std::vector<Speeds>& rows);

/// A table of the rows, and the verdict with what to do.
std::string inWords(const std::vector<Speeds>& rows);

/// The last number before "samples/s" in `output`; 0: there is none.
double speedIn(const std::string& output);

}  // namespace popdist::data
