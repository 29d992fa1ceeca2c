// SPDX-License-Identifier: Apache-2.0
// A backward pass of calibrated layers whose gradients are reduced between instances: after it, or while it
// goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/context.hpp"
#include "popdist/fused.hpp"

namespace pop::bench {

/// Processor of the layers, as the host's cores see it.
enum class Computes { kDevice, kHost };
const char* nameOf(Computes computes);

struct BackwardSetting {
  std::string name;
  int layers = 8;
  std::size_t layer_bytes = std::size_t{4} << 20;  ///< of gradients
  double layer_ms = 40;
  /// kDevice: the host's thread waits for the layer. kHost: it computes.
  Computes computes = Computes::kDevice;
  popdist::FusionOptions fusion{};
  /// Adam, on the host, belongs to the reduction: after it, or of each gradient as it is reduced.
  bool updates = false;
  int rounds = 9;
};

/// Seconds of one round, of the slower instance.
struct BackwardTimes {
  double compute = 0;    ///< alone
  double reduction = 0;  ///< of all gradients, alone
  double without = 0;    ///< one after the other
  double with = 0;       ///< each gradient as soon as it is there

  /// Longest time that a reduction can hide behind: it cannot begin before the first gradient is there.
  double hideable(int layers) const;
  /// (without - with) / hideable
  double hiddenShare(int layers) const;
  /// Time that layers would take with the cores to themselves, as a part of the time that they took.
  double calmness(const BackwardSetting& setting) const;
};

/// Every instance calls it, with the same setting. Kinds of a round follow each other by turns. The times are
/// those of all instances.
std::vector<BackwardTimes> measureBackward(popdist::Context& context, const BackwardSetting& setting);

/// The same of two instances in network namespaces of their own, joined by a link that carries `mbit_per_s`
/// in each direction. Forks, so call it while this process has one thread. Needs root. Error: the link cannot
/// be shaped, or an instance fails.
Result<std::vector<BackwardTimes>> measureOverTwoHosts(int mbit_per_s, const BackwardSetting& setting);

}  // namespace pop::bench
