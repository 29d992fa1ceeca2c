// SPDX-License-Identifier: Apache-2.0
// Changes of the loss scale after each update.
#pragma once

#include <algorithm>
#include <cstdint>

#include "popdist/trainer.hpp"

namespace popdist::train {

class LossScaler {
 public:
  explicit LossScaler(const LossScale& options) : options_(options), scale_(options.initial) {}

  double scale() const { return scale_; }
  std::uint64_t goodUpdates() const { return good_updates_; }
  /// As it was saved.
  void resume(double scale, std::uint64_t good_updates) {
    scale_ = scale;
    good_updates_ = good_updates;
  }

  void updated() {
    if (!options_.dynamic || ++good_updates_ < options_.growth_interval) return;
    good_updates_ = 0;
    scale_ = std::min(scale_ * options_.growth, 0x1p120);  // a float, with room for gradients
  }
  void skipped() {
    good_updates_ = 0;
    scale_ = std::max(scale_ * options_.backoff, 0x1p-120);
  }

 private:
  LossScale options_;
  double scale_;
  std::uint64_t good_updates_ = 0;
};

}  // namespace popdist::train
