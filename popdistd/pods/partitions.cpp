// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/partitions.h"

#include <algorithm>
#include <utility>

#include "popdistd/partitions/ipuof.h"
#include "popdistd/pods/holder_id.h"
#include "popdistd/pods/pod_access.h"
#include "popdistd/pods/pod_records.h"

namespace pop::popdistd {
namespace {

using vipu::PartitionState;

bool isConfigured(const vipu::Partition& partition) {
  return partition.state != PartitionState::kCreating && partition.state != PartitionState::kResetting;
}

std::optional<std::int64_t> jobOf(const std::optional<vipu::Partition>& partition) {
  return partition ? popdistd::jobOf(partition->job) : std::nullopt;
}

}  // namespace

Partitions::Partitions(Parts parts)
    : parts_(std::move(parts)),
      table_(std::make_unique<vipu::PartitionTable>(parts_.settings.resets)),
      counted_at_(parts_.loop.now()) {}

vipu::Time Partitions::now() const {
  return timeOf(parts_.clock);
}

void Partitions::inventoryChanged() {
  for (const auto& [id, partition] : table_->partitions()) addUsers(partition);
  inventory_revision_ = parts_.revisions.changed(InventoryId{}, inventory_revision_);
  changed();
}

Status Partitions::load(std::unique_ptr<vipu::PartitionTable> table) {
  cancelTimers();
  fresh_for_.clear();
  revisions_.clear();
  users_.clear();
  inventory_revision_ = 0;
  table_ = std::move(table);
  POP_ASSIGN_OR_RETURN(const std::vector<StoredPartition> stored, parts_.store.partitions());
  std::vector<vipu::Partition> partitions;
  for (const StoredPartition& each : stored) {
    POP_ASSIGN_OR_RETURN(vipu::Partition partition, partitionOf(each));
    partitions.push_back(std::move(partition));
  }
  POP_RETURN_IF_ERROR(table_->restore(partitions));
  for (const vipu::Partition& each : partitions) {
    addUsers(each);
    revisions_[each.id] = parts_.revisions.changed(PartitionId{each.id}, 0);
  }
  return {};
}

// A change that cannot be stored now is tried again with the next tick.
void Partitions::tick() {
  countIpuSeconds();
  std::vector<std::string> removing;
  for (const auto& [id, partition] : table_->partitions()) {
    if (!isConfigured(partition)) watch(id);
    if (partition.state == PartitionState::kRemoving && partition.job.empty()) removing.push_back(id);
  }
  for (const std::string& id : removing) static_cast<void>(keep(table_->released(id, now())));
  static_cast<void>(keep(table_->dueResets(now())));
}

void Partitions::goOn(const std::string& id, vipu::Change& change) {
  const auto add = [&](Result<vipu::Change> next) {
    if (next.ok()) change.insert(change.end(), next.value().begin(), next.value().end());
  };
  const vipu::Partition* const partition = table_->find(id);
  if (partition == nullptr) return;
  if (!isConfigured(*partition) && parts_.settings.configure_delay.count() == 0)
    return add(table_->configured(id, now()));
  if (partition->state == PartitionState::kRemoving && partition->job.empty())
    add(table_->released(id, now()));
}

Status Partitions::keep(Result<vipu::Change> change) {
  if (!change.ok()) return change.status();
  std::vector<std::string> ids;
  for (const vipu::PartitionStep& step : change.value())
    ids.push_back(step.after ? step.after->id : step.before->id);
  for (const std::string& id : ids) goOn(id, change.value());
  return keep(std::as_const(change.value()));
}

Status Partitions::keep(const vipu::Change& change) {
  const std::vector<Net> nets = netOf(change);
  for (auto net = nets.begin(); net != nets.end(); ++net) {
    Status written = write(*net);
    if (written.ok()) continue;
    if (!isRefusal(written)) parts_.commits.wrote(written);
    for (auto done = net; done != nets.begin();) writeBack(*--done);
    table_->revert(change);
    return written;
  }
  if (nets.empty()) return {};
  parts_.commits.wrote({});
  for (const Net& net : nets) noteChange(net);
  count(change);
  parts_.changed();
  return {};
}

std::vector<Partitions::Net> Partitions::netOf(const vipu::Change& change) {
  std::vector<Net> nets;
  for (const vipu::PartitionStep& step : change) {
    const std::string& id = step.after ? step.after->id : step.before->id;
    const auto known = std::find_if(nets.begin(), nets.end(), [&](const Net& net) { return net.id == id; });
    if (known == nets.end()) {
      nets.push_back({id, step.before, step.after});
    } else {
      known->after = step.after;
    }
  }
  return nets;
}

// The old job is let go first: a partition with a job is not removed, and has one at a time.
Status Partitions::write(const Net& net) {
  Store& store = parts_.store;
  if (jobOf(net.before) && jobOf(net.before) != jobOf(net.after)) POP_RETURN_IF_ERROR(store.unbind(net.id));
  Status written = net.after    ? put(net.before, *net.after)
                   : net.before ? store.removePartition(net.id)
                                : Status();
  if (!written.ok() && isRefusal(written) && net.before) writeBack(net);
  return written;
}

Status Partitions::put(const std::optional<vipu::Partition>& before, const vipu::Partition& after) {
  POP_RETURN_IF_ERROR(parts_.store.putPartition(after.id, recordOf(after), ipuKeysOf(after)));
  const std::optional<std::int64_t> job = popdistd::jobOf(after.job);
  if (!job || job == jobOf(before)) return {};
  Status bound = parts_.store.bind(after.id, *job);
  if (!bound.ok() && isRefusal(bound) && !before) POP_RETURN_IF_ERROR(parts_.store.removePartition(after.id));
  return bound;
}

// Restores the record that the store had before a write of this turn.
void Partitions::writeBack(const Net& net) {
  Store& store = parts_.store;
  Status written = store.unbind(net.id);
  if (written.ok()) written = net.before ? put(std::nullopt, *net.before) : store.removePartition(net.id);
  if (!written.ok()) parts_.commits.wrote(std::move(written));
}

void Partitions::noteChange(const Net& net) {
  if (const auto timer = timers_.extract(net.id)) parts_.loop.cancel(timer.mapped());
  const bool is_used = !net.after || !net.after->job.empty() || (net.before && !net.before->job.empty());
  if (is_used) fresh_for_.erase(net.id);
  if (net.after) {
    addUsers(*net.after);
    std::uint64_t& revision = revisions_[net.id];
    revision = parts_.revisions.changed(PartitionId{net.id}, revision);
    if (!isConfigured(*net.after)) watch(net.id);
  } else if (const auto gone = revisions_.extract(net.id)) {
    const auto users = users_.extract(net.id);
    parts_.revisions.removed(PartitionId{net.id}, gone.mapped(), PodAccess::anyOf(users.mapped()));
  }
}

void Partitions::addUsers(const vipu::Partition& partition) {
  const std::vector<std::string>& now = table_->inventory().allocation(partition.spec.allocation)->users;
  const auto [users, is_new] = users_.try_emplace(partition.id, now.begin(), now.end());
  if (is_new || users->second.empty()) return;
  now.empty() ? users->second.clear() : users->second.insert(now.begin(), now.end());
}

void Partitions::watch(const std::string& id) {
  if (timers_.contains(id)) return;
  timers_[id] = parts_.loop.postAfter(parts_.settings.configure_delay, [this, id] {
    timers_.erase(id);
    configured(id);
  });
}

void Partitions::configured(const std::string& id) {
  static_cast<void>(keep(table_->configured(id, now())));  // refused: tried again with a tick
}

std::string Partitions::freshFor(const std::string& id) const {
  const auto found = fresh_for_.find(id);
  return found == fresh_for_.end() ? "" : found->second;
}

std::uint64_t Partitions::revisionOf(const std::string& id) const {
  const auto found = revisions_.find(id);
  return found == revisions_.end() ? 0 : found->second;
}

v1::PartitionInfo Partitions::show(const vipu::Partition& partition) const {
  v1::PartitionInfo info = messageOf(partition);
  for (const std::string& host : vipu::gcdHosts(partition.spec, table_->inventory()))
    info.add_gcd_hosts(host);
  info.set_revision(revisionOf(partition.id));
  return info;
}

void Partitions::cancelTimers() {
  for (const auto& [id, timer] : std::exchange(timers_, {})) parts_.loop.cancel(timer);
}

}  // namespace pop::popdistd
