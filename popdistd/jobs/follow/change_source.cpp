// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/follow/change_source.h"

#include <utility>

namespace pop::popdistd {

ChangeSource::ChangeSource(Revisions& revisions, ShownChanges& shown, JobTable& jobs, HostTable& hosts,
                           Views views, const v1::WatchRequest& request, Api::Ready ready)
    : revisions_(revisions),
      shown_(shown),
      jobs_(jobs),
      hosts_(hosts),
      views_(std::move(views)),
      job_(request.has_job() ? std::optional(request.job()) : std::nullopt),
      seen_(request.since_revision()),
      begins_(!revisions.reachesBackTo(request.since_revision()) ||
              request.since_revision() > revisions.current()),
      subscription_(revisions.subscribe([this, ready = std::move(ready)] {
        if (std::exchange(waits_, false)) ready();
      })) {}

// A watcher that has fallen back behind what is known of removed things begins anew.
std::optional<ShownChange> ChangeSource::next() {
  if (snapshot_ == 0 && !begins_ && !revisions_.reachesBackTo(seen_)) {
    begins_ = true;
    revisions_.countResync();
  }
  if (std::exchange(begins_, false)) {
    seen_ = 0;
    snapshot_ = revisions_.current();
    v1::Change begin;
    begin.mutable_snapshot_begins();
    return begin;
  }
  const auto& entries = revisions_.entries();
  for (auto each = entries.upper_bound(seen_); each != entries.end(); ++each) {
    if (snapshot_ != 0 && each->first > snapshot_) break;
    seen_ = each->first;
    if (!isWanted(each->second.thing) || (snapshot_ != 0 && each->second.is_removed)) continue;
    if (std::optional<ShownChange> change = show(each->first, each->second)) return change;
  }
  if (snapshot_ == 0) {
    waits_ = true;
    return std::nullopt;
  }
  v1::Change end;
  end.set_revision(snapshot_);
  end.mutable_snapshot_ends();
  seen_ = std::exchange(snapshot_, 0);
  return end;
}

std::optional<ShownChange> ChangeSource::show(std::uint64_t revision, const Revisions::Entry& entry) {
  const Sight sight = sightOf(entry);
  if (sight == Sight::kNothing) return std::nullopt;
  // A snapshot shows what there is now.
  if (snapshot_ != 0) return make(revision, entry, sight);
  return shown_.show(revision, sight, [&] { return make(revision, entry, sight); });
}

// A thing that is gone is told by its number or name alone.
Sight ChangeSource::sightOf(const Revisions::Entry& entry) const {
  if (entry.is_removed)
    return !entry.may_hear || entry.may_hear(views_.watcher) ? Sight::kAll : Sight::kNothing;
  if (const auto* const id = std::get_if<std::int64_t>(&entry.thing)) {
    const Job* const job = jobs_.find(*id);
    return job == nullptr ? Sight::kNothing : views_.sight_of_job(*job);
  }
  const auto* const partition = std::get_if<PartitionId>(&entry.thing);
  return partition == nullptr ? Sight::kAll : views_.sight_of_partition(partition->id);
}

std::optional<v1::Change> ChangeSource::make(std::uint64_t revision, const Revisions::Entry& entry,
                                             Sight sight) const {
  v1::Change change;
  change.set_revision(revision);
  if (const auto* const id = std::get_if<std::int64_t>(&entry.thing)) {
    if (entry.is_removed) {
      change.set_job_forgotten(*id);
    } else if (const Job* const job = jobs_.find(*id)) {
      *change.mutable_job() = views_.job(*job, sight);
    } else {
      return std::nullopt;
    }
    return change;
  }
  if (const auto* const partition = std::get_if<PartitionId>(&entry.thing)) {
    if (entry.is_removed) {
      change.set_partition_removed(partition->id);
      return change;
    }
    std::optional<v1::PartitionInfo> info = views_.partition(partition->id);
    if (!info) return std::nullopt;
    *change.mutable_partition() = std::move(*info);
    return change;
  }
  if (std::holds_alternative<InventoryId>(entry.thing)) {
    change.mutable_inventory();
    return change;
  }
  const auto& name = std::get<std::string>(entry.thing);
  if (entry.is_removed) {
    change.set_host_removed(name);
  } else if (const Host* const host = hosts_.find(name)) {
    *change.mutable_host() = views_.host(*host);
  } else {
    return std::nullopt;
  }
  return change;
}

bool ChangeSource::isWanted(const ThingId& thing) const {
  return !job_ || thing == ThingId(*job_);
}

}  // namespace pop::popdistd
