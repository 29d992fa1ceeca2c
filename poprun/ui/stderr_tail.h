// SPDX-License-Identifier: Apache-2.0
// The last lines that each instance has written to stderr, for the summary of a job that fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pop {

class StderrTail {
 public:
  static constexpr std::size_t kLines = 10;
  static constexpr std::size_t kBytes = 2048;

  explicit StderrTail(int num_instances) : tails_(static_cast<std::size_t>(num_instances)) {}

  void note(int instance, std::string_view text);

  /// At most the last kLines lines, with at most kBytes in total; the oldest is cut at its front. Without
  /// newlines, empty lines at the end, and text that a carriage return has overwritten.
  std::vector<std::string> lines(int instance) const;

 private:
  std::vector<std::string> tails_;
};

}  // namespace pop
