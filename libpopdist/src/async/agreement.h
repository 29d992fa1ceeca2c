// SPDX-License-Identifier: Apache-2.0
// Which calls all members have announced, and in which order they are carried out. Every member feeds its own
// with the same announcements in the same order, and so all come to the same answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/src/async/message.h"
#include "libpopdist/src/exec/call_words.h"

namespace popdist::async {

/// A name that all have announced.
struct Agreed {
  std::string name;
  std::string mismatch;  ///< empty: all mean the same by it
  int odd_rank = -1;     ///< with a mismatch: the first that means something else than rank 0
};

class Agreement {
 public:
  explicit Agreement(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  void add(int rank, const Announcement& call);

  /// Those that have become complete since the last time, in that order. They are forgotten here.
  std::vector<Agreed> takeAgreed(const exec::RankNames& names = {});

  /// Whether the member has announced something that others have not.
  bool awaitsOthers(int rank) const;
  /// Whether others have announced something that the member has not.
  bool isAwaited(int rank) const;

  /// Of a name that somebody has announced, but not all. Empty for any other.
  std::vector<int> ranksWithout(const std::string& name) const;

  /// "rank 1, which waits for 'b', and rank 2": the same for people.
  std::string describeRanksWithout(const std::string& name, const exec::RankNames& names = {}) const;

 private:
  struct Entry {
    std::uint64_t number = 0;  ///< of its first announcement
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
