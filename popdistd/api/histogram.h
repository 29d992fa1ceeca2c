// SPDX-License-Identifier: Apache-2.0
// A histogram of values. Pure; one thread, or the owner's lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace pop::popdistd {

class Histogram {
 public:
  /// `bounds`: upper ones, ascending; they outlive the object. Above the last one there is one bucket more.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(double value) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    ++count_;
    sum_ += value;
  }

  std::span<const double> bounds() const { return bounds_; }
  /// Per bound: the number of values above the bound before, and not above this one.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

/// Bounds in seconds: for operations of a moment, and for operations as long as a job.
inline constexpr double kMomentBounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                           0.05,   0.1,     0.25,   0.5,   1,      2.5,   10};
inline constexpr double kJobBounds[] = {0.1, 0.5, 1,    5,        15,        60,
                                        300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600};

}  // namespace pop::popdistd
