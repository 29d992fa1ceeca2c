// SPDX-License-Identifier: Apache-2.0
// A set of CPUs (or of memory nodes) by the operating system's numbers, written as Linux writes it: "0-3,8".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::model {

class CpuSet {
 public:
  CpuSet() = default;
  explicit CpuSet(std::vector<int> cpus);

  /// Parses "0-3,8". kInvalidArgument says what is wrong with any other text. A list has at most kMaxCpus
  /// entries, repeated ones included.
  static Result<CpuSet> parse(std::string_view text);

  bool empty() const { return cpus_.empty(); }
  int size() const { return static_cast<int>(cpus_.size()); }
  bool contains(int cpu) const;
  const std::vector<int>& cpus() const { return cpus_; }  ///< ascending, each once
  std::string text() const;                               ///< "0-3,8"; empty: ""

  friend CpuSet operator&(const CpuSet& a, const CpuSet& b);
  friend CpuSet operator|(const CpuSet& a, const CpuSet& b);
  friend CpuSet operator-(const CpuSet& a, const CpuSet& b);
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  std::vector<int> cpus_;
};

}  // namespace pop::model
