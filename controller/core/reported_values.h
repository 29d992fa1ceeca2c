// SPDX-License-Identifier: Apache-2.0
// Reports of an attempt's instances on themselves, put together for the job: the newest value of each
// instance under each name.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/contract/report_page.h"
#include "common/ports/job_report.h"

namespace pop {

class ReportedValues {
 public:
  /// The first names of the job are kept; what another instance wants of a name's fold does not count.
  void take(const std::vector<InstanceValue>& values) {
    for (const InstanceValue& each : values) {
      const std::string name = printable(each.name);
      if (!by_name_.contains(name) && by_name_.size() >= contract::kMostReportedNames) continue;
      Of& of = by_name_.try_emplace(name, Of{each.fold, {}}).first->second;
      of.values[each.instance] = each.value;
    }
  }

  /// By name.
  std::vector<JobValue> folded() const {
    std::vector<JobValue> all;
    for (const auto& [name, of] : by_name_)
      all.push_back({name, of.fold, fold(of), static_cast<int>(of.values.size())});
    return all;
  }

 private:
  struct Of {
    contract::Fold fold = contract::Fold::kSum;
    std::map<int, double> values;  ///< by instance
  };

  // A sum of numbers that are near the largest double is shown as that.
  static double fold(const Of& of) {
    constexpr long double kLargest = std::numeric_limits<double>::max();
    long double sum = 0;
    double most = of.values.begin()->second;
    for (const auto& [instance, value] : of.values) {
      sum += value;
      most = std::max(most, value);
    }
    if (of.fold == contract::Fold::kMax) return most;
    if (of.fold == contract::Fold::kMean) sum /= static_cast<long double>(of.values.size());
    return static_cast<double>(std::clamp(sum, -kLargest, kLargest));
  }

  std::map<std::string, Of> by_name_;
};

}  // namespace pop
