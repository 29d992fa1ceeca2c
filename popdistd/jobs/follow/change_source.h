// SPDX-License-Identifier: Apache-2.0
// The stream of changes for one watcher: Controller.Watch.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "popdistd/api/api.h"
#include "popdistd/common/revisions.h"
#include "popdistd/jobs/follow/shown_changes.h"
#include "popdistd/jobs/table/host_table.h"
#include "popdistd/jobs/table/job_table.h"

namespace pop::popdistd {

/// One watcher, its sight, and the messages that show things.
struct Views {
  Caller watcher;
  std::function<Sight(const Job&)> sight_of_job;
  std::function<Sight(const std::string& partition)> sight_of_partition;
  std::function<v1::JobInfo(const Job&, Sight)> job;
  std::function<v1::HostInfo(const Host&)> host;
  std::function<std::optional<v1::PartitionInfo>(const std::string&)> partition;
};

class ChangeSource final : public Source<ShownChange> {
 public:
  ChangeSource(Revisions& revisions, ShownChanges& shown, JobTable& jobs, HostTable& hosts, Views views,
               const v1::WatchRequest& request, Api::Ready ready);
  ~ChangeSource() override { revisions_.unsubscribe(subscription_); }
  ChangeSource(const ChangeSource&) = delete;
  ChangeSource& operator=(const ChangeSource&) = delete;

  std::optional<ShownChange> next() override;
  std::optional<Status> ended() const override { return std::nullopt; }

 private:
  std::optional<ShownChange> show(std::uint64_t revision, const Revisions::Entry& entry);
  Sight sightOf(const Revisions::Entry& entry) const;
  std::optional<v1::Change> make(std::uint64_t revision, const Revisions::Entry& entry, Sight sight) const;
  bool isWanted(const ThingId& thing) const;

  Revisions& revisions_;
  ShownChanges& shown_;
  JobTable& jobs_;
  HostTable& hosts_;
  const Views views_;
  const std::optional<std::int64_t> job_;
  std::uint64_t seen_;          ///< the watcher knows everything up to here
  std::uint64_t snapshot_ = 0;  ///< revision up to which the snapshot under way goes; 0: none is
  bool begins_;                 ///< a snapshot is due
  bool waits_ = false;          ///< next() had nothing
  Revisions::Subscription subscription_;
};

}  // namespace pop::popdistd
