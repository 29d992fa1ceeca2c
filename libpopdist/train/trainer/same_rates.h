// SPDX-License-Identifier: Apache-2.0
// Checks that the optimizer's numbers, such as its rate, are the same on all instances: in a sum that there
// is anyway.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libpopdist/train/agreement/agreement.h"
#include "popdist/optimizer.hpp"

namespace popdist::train {

class SameRates {
 public:
  explicit SameRates(const Optimizer& optimizer);

  /// The rates of the next update.
  Fact fact(std::uint64_t updates_done) const;

  /// Two numbers more, which tell what the transforms have taken for the last update.
  void addTo(std::vector<double>& numbers, std::uint64_t updates_done) const;

  /// Takes them off again, when all are sums over `instances`. Throws popdist_error kFailedPrecondition, on
  /// all instances, if one has other numbers.
  void takeFrom(std::vector<double>& sums, int instances, std::uint64_t updates_done) const;

 private:
  std::string text(std::uint64_t update) const;
  double digest(std::uint64_t updates_done) const;

  std::vector<std::function<std::vector<double>(std::uint64_t updates_done)>> prepares_;
};

}  // namespace popdist::train
