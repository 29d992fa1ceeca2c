// SPDX-License-Identifier: Apache-2.0
// An index of changes: each job, host and partition with the revision of its last change, so that a watcher
// that falls behind skips what has changed again, and nothing queues up for it.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <variant>

#include "popdistd/api/caller.h"

namespace pop::popdistd {

struct PartitionId {
  std::string id;

  friend auto operator<=>(const PartitionId&, const PartitionId&) = default;
};

/// Clusters, agents and allocations, all together: they change rarely.
struct InventoryId {
  friend auto operator<=>(const InventoryId&, const InventoryId&) = default;
};

/// A job's id, a host's name, a partition, or the inventory.
using ThingId = std::variant<std::int64_t, std::string, PartitionId, InventoryId>;

class Revisions {
 public:
  using MayHear = std::function<bool(const Caller&)>;
  struct Entry {
    ThingId thing;
    bool is_removed = false;
    MayHear may_hear;  ///< of the end of what was removed; null: every caller
  };
  using Entries = std::map<std::uint64_t, Entry>;

  /// Revisions of this life of the daemon are above `first`, and above all of lives before.
  explicit Revisions(std::uint64_t first) : first_(first), current_(first) {}

  /// The thing has changed, or is new; returns the revision. `last`: that of its change before, 0: none.
  std::uint64_t changed(const ThingId& thing, std::uint64_t last);
  /// It is gone. The last 1,000 of these are kept. `may_hear` is asked later, when nothing of it is left;
  /// null: every caller may.
  void removed(const ThingId& thing, std::uint64_t last, MayHear may_hear = nullptr);

  /// Forgets everything: watchers begin anew, when all that there is has changed again.
  void restart();

  std::uint64_t current() const { return current_; }

  /// A watcher begins anew, since it has fallen back behind what is known.
  void countResync() { ++resyncs_; }
  std::uint64_t resyncs() const { return resyncs_; }

  /// True if all changes after `revision` are known.
  bool reachesBackTo(std::uint64_t revision) const { return revision >= first_; }

  /// By revision; those after `revision` begin at entries().upper_bound(revision).
  const Entries& entries() const { return entries_; }

  /// True while subscribers are told of a change, which its thing does not show yet.
  bool isTelling() const { return is_telling_; }

  /// Called after each change, until the returned handle is given to unsubscribe().
  using Subscription = std::list<std::function<void()>>::iterator;
  Subscription subscribe(std::function<void()> changed);
  void unsubscribe(Subscription subscription) { subscribers_.erase(subscription); }

 private:
  std::uint64_t add(std::uint64_t last, Entry entry);

  std::uint64_t first_;  ///< removals up to here are forgotten
  std::uint64_t current_;
  std::uint64_t resyncs_ = 0;
  bool is_telling_ = false;
  Entries entries_;
  std::deque<std::uint64_t> removed_;
  std::list<std::function<void()>> subscribers_;
};

}  // namespace pop::popdistd
