// SPDX-License-Identifier: Apache-2.0
// Finds out that two instances wait for each other in calls of different communicators (docs/adr/0074). That
// is so where each one's thread is the only one that has ever called on the other's communicator: nobody else
// will come there. Instances of a host see each other's stations; those of others get notes over the
// connections that their communicators have.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "common/contract/station.h"
#include "common/sys/awake_clock.h"
#include "libpopdist/src/exec/peer_monitor.h"

namespace popdist::group {

class Members;

/// The waits of one group.
class Crossing {
 public:
  explicit Crossing(const Members& members, int first_rank) : members_(members), first_rank_(first_rank) {}

  /// In each turn of a wait for the ranks `awaited`. For the first 300 ms it only reads the clock; then this
  /// wait can be seen by others, until over().
  std::optional<exec::PeerLoss> find(std::span<const int> awaited);
  /// `rank`, which has not begun this call, has sent the note that it waits in another group's for this one.
  std::optional<exec::PeerLoss> findWith(int rank, const exec::Header& note, bool is_awaited);
  /// The wait has ended.
  void over();

 private:
  void enter();
  void tellOthers(std::span<const int> awaited);
  void tell(int instance, const exec::Header& note);
  std::optional<exec::PeerLoss> findOnHost(int instance);
  exec::PeerLoss found(int group, int instance, const std::string& own_call, const std::string& their_call);
  std::string ownCall() const;

  const Members& members_;
  const int first_rank_;  // that the caller numbers 0
  std::optional<pop::sys::AwakeClock::time_point> since_;
  pop::contract::Station* station_ = nullptr;  // of this wait
  std::size_t place_ = 0;                      // its number
  std::set<std::pair<int, int>> told_;         // groups and instances that have a note of this wait
};

}  // namespace popdist::group
