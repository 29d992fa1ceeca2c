// SPDX-License-Identifier: Apache-2.0
// The ways in which a collective can be carried out. A new one is a line in allWays().
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/contract/mismatches.h"
#include "tests/testing/thread_group.h"

namespace popdist::contract {

struct Way {
  std::string name;
  std::map<std::string, std::string> environment;  ///< that makes contexts go this way
  int instances_per_host = 0;                      ///< 0: all are on one host
  /// Reduces in order of rank, whatever the order of arrival.
  bool in_rank_order = true;
  Compared compared = Compared::kNotes;
  /// Ranks that a machine of two cores can have; a way whose ranks never stop asking makes seconds minutes.
  int most_ranks = 8;
};

/// Between threads.
const std::vector<Way>& allWays();

/// One of them.
const Way& wayNamed(const std::string& name);

/// Between processes of this host: the same but for the hosts, which are pretended there, and every backend
/// of this build.
std::vector<Way> waysOfProcesses();

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
