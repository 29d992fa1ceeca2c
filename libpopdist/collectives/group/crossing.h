// SPDX-License-Identifier: Apache-2.0
// Finds out that instances wait for each other in calls of different communicators, or one of them in a fence
// (docs/adr/0074, 0087). That is so where each one's thread is the only one that has ever called there where
// the one before waits: no other will come. Instances of a host see each other's stations; those of others
// get notes.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libpopdist/collectives/group/long_wait.h"
#include "libpopdist/collectives/messages/exec/peer_monitor.h"

namespace popdist::group {

class Members;

/// The waits of one group.
class Crossing {
 public:
  Crossing(const Members& members, int first_rank);

  /// In each turn of a wait for the ranks `awaited`.
  std::optional<exec::PeerLoss> find(std::span<const int> awaited);
  /// `rank`, which has not begun this call, has sent the note that it waits in another group's for this one.
  std::optional<exec::PeerLoss> findWith(int rank, const exec::Header& note, bool is_awaited);
  /// The wait has ended. Those of this host that wait for this one in vain hear of it.
  void over();

 private:
  void tellOthers(std::span<const int> awaited);
  /// The `groups`, in which others wait for this instance, fail.
  void tell(const std::set<int>& groups, const std::string& why) const;
  std::string ownCall() const;

  const Members& members_;
  const int first_rank_;  // that the caller numbers 0
  LongWait wait_;
};

}  // namespace popdist::group
