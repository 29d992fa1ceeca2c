// SPDX-License-Identifier: Apache-2.0
// Finds out which calls all members have announced, and in which order they are carried out. Every member
// adds the same announcements in the same order, so all get the same results.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/collectives/async/message.h"
#include "libpopdist/collectives/messages/exec/call_words.h"

namespace popdist::async {

/// A call that all members have announced.
struct Agreed {
  std::string name;
  std::string mismatch;  ///< empty: all announced the same call
  int odd_rank = -1;     ///< with a mismatch: the first rank whose call differs from that of rank 0
};

class Agreement {
 public:
  explicit Agreement(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  void add(int rank, const Announcement& call);

  /// The calls that have become complete since the last time, in that order. They are then forgotten here.
  std::vector<Agreed> takeAgreed(const exec::RankNames& names = {});

  /// Two members that promised to issue the same calls in the same order, and whose oldest calls, of those
  /// that are not complete, have different names: the first such two.
  struct Contradiction {
    std::string text;
    int odd_rank = -1;
  };
  std::optional<Contradiction> contradiction(const exec::RankNames& names = {}) const;

  /// True if the member has announced a call that others have not.
  bool awaitsOthers(int rank) const;
  /// True if others have announced a call that the member has not.
  bool isAwaited(int rank) const;

  /// The ranks that have not announced a name that others have. Empty if all have, or none.
  std::vector<int> ranksWithout(const std::string& name) const;

  /// The same as text: "rank 1, which waits for 'b', and rank 2".
  std::string describeRanksWithout(const std::string& name, const exec::RankNames& names = {}) const;

 private:
  struct Entry {
    std::uint64_t number = 0;  ///< that of its first announcement
    std::size_t announced = 0;
    std::vector<std::optional<Announcement>> by_rank;
  };

  std::optional<std::string> oldestOf(int rank) const;
  Agreed judge(const std::string& name, const Entry& entry, const exec::RankNames& names) const;

  const std::size_t ranks_;
  std::uint64_t names_seen_ = 0;
  std::map<std::string, Entry> open_;
  std::vector<std::string> complete_;
};

}  // namespace popdist::async
