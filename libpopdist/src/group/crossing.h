// SPDX-License-Identifier: Apache-2.0
// Finds out that two instances of a host wait for each other in calls of different communicators
// (docs/adr/0074). That is so where each one's thread is the only one that has ever called on the other's
// communicator: nobody else will come there.
#pragma once

#include <optional>
#include <span>
#include <string>

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
  /// The wait has ended.
  void over();

 private:
  void enter();
  std::optional<exec::PeerLoss> findWith(int instance);

  const Members& members_;
  const int first_rank_;  // that the caller numbers 0
  std::optional<pop::sys::AwakeClock::time_point> since_;
  pop::contract::Station* station_ = nullptr;  // of this wait
  std::size_t place_ = 0;                      // its number
};

}  // namespace popdist::group
