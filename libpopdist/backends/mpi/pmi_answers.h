// SPDX-License-Identifier: Apache-2.0
// The answers of a process manager to starting MPI processes: PMI-1 lines, as a pure function of the lines
// before.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace popdist::backends {

class PmiAnswers {
 public:
  explicit PmiAnswers(int ranks) : in_barrier_(static_cast<std::size_t>(ranks)) {}

  struct Line {
    int rank = 0;
    std::string text;  ///< without the end of line
  };

  /// The lines to send, and to which rank, after `rank` has sent `line`. Lines that need no answer or are not
  /// understood get none.
  std::vector<Line> to(int rank, std::string_view line);

 private:
  std::vector<Line> enterBarrier(int rank);
  std::string valueOf(const std::string& key) const;

  std::map<std::string, std::string> values_;
  std::vector<bool> in_barrier_;
};

}  // namespace popdist::backends
