// SPDX-License-Identifier: Apache-2.0
// A wait that has taken long, as other instances see it: at a station of this host, and by notes over the
// connections of groups (docs/adr/0074, 0087).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/station.h"
#include "common/sys/awake_clock.h"
#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/collectives/messages/exec/message_header.h"

namespace popdist::group {

/// In place of a group's number: a fence.
inline constexpr int kFence = -1;

/// A call in words, for those who wait elsewhere. `tag`: of the fence, or its beginning.
std::string callOfFence(const std::string& tag);

/// No other thread of this instance will call on the group, or enter a fence, as far as that can be known.
/// False if the group has failed here: who waits in it hears that, and not that the calls differ.
bool isForThisThread(const context::ContextState& context, int number);

class LongWait {
 public:
  /// In calls of group `number`. `context` outlives it.
  LongWait(const context::ContextState& context, int number) : context_(context), number_(number) {}

  /// In each turn of the wait. For the first 300 ms it only reads the clock, and returns false.
  bool isLong();
  /// Once it is long, in each turn: others of this host see that this thread waits in `call()`, until over().
  template <typename Call>
  void show(const Call& call) {
    if (station_ == nullptr) enter(call());
  }

  struct Place {
    int instance = 0;
    int group = kFence;
    std::string call;
  };
  /// In each turn after show(), with the instances of this host that this one waits for: its wait and others
  /// of this host, each of which waits in vain for the next, and the last for the first. Returned in one turn
  /// of each of them, once all have found it. Empty: none.
  std::vector<Place> findCircle(std::span<const int> instances);
  /// The same, of the last turn.
  std::vector<Place> circle() const;
  /// The groups in which others of this host wait for this one in vain.
  std::set<int> groupsInVain() const;

  /// Sends `note` to an instance on another host, once for each group that has both. `members`: how many wait
  /// for each other; where they are many, notes go over connections that are there.
  void tell(int instance, const exec::Header& note, int members);

  /// The wait has ended.
  void over();

 private:
  void enter(const std::string& call);
  void leave();
  void showCalls();
  void showBlockers(std::span<const int> instances);
  void append(int instance, std::vector<std::uint64_t>& waits) const;
  bool isBlockedBy(const pop::contract::Station& theirs) const;
  void search();

  const context::ContextState& context_;
  const int number_;
  std::optional<pop::sys::AwakeClock::time_point> since_;
  pop::contract::Station* station_ = nullptr;  // this wait's
  std::uint64_t own_ = 0;                      // its name
  std::vector<std::uint64_t> seen_;            // waits that blocked this one in the last turn
  std::vector<std::uint64_t> circle_;          // begins with own_
  std::vector<Place> places_;                  // of circle_
  std::set<std::pair<int, int>> told_;         // groups and instances that have a note of this wait
};

}  // namespace popdist::group
