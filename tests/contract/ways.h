// SPDX-License-Identifier: Apache-2.0
// The ways in which a collective can be carried out. A new one is a line in allWays().
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/contract/case.h"
#include "tests/testing/thread_group.h"

namespace popdist::contract {

struct Way {
  std::string name;
  std::map<std::string, std::string> environment;  ///< that makes contexts go this way
  int instances_per_host = 0;                      ///< 0: all are on one host
  /// Reduces in order of rank, whatever the order of arrival.
  bool in_rank_order = true;
  /// Whether it has what the case asks for.
  std::function<bool(const Case&)> supports = [](const Case&) { return true; };
};

const std::vector<Way>& allWays();

inline void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

/// Ranks as a way has them, within the life of a WayTaken.
testing::GroupShape shapeOf(const Way& way, int ranks);

/// Sets the environment of a way for as long as it lives. No other thread may be running when it is made.
class WayTaken {
 public:
  explicit WayTaken(const Way& way);
  ~WayTaken();
  WayTaken(const WayTaken&) = delete;
  WayTaken& operator=(const WayTaken&) = delete;

 private:
  const std::map<std::string, std::string> environment_;
};

}  // namespace popdist::contract
