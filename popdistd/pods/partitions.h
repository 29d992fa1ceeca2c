// SPDX-License-Identifier: Apache-2.0
// The table of partitions with its store: what is kept is written, what the store refuses is taken back.
// Carries out what changes ask for: IPUs are configured (emulated: after a delay, or at once), and released
// when no job or program holds them any more. On the loop's thread.
//
// Changes are made on table(), which forgets nothing by itself: each is given to keep(), or reverted there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "popdistd/api/measures.h"
#include "popdistd/common/commits.h"
#include "popdistd/common/revisions.h"
#include "popdistd/common/wall_clock.h"
#include "popdistd/partitions/partition_table.h"
#include "proto/popdist/v1/pods.pb.h"

namespace pop::popdistd {

struct PodSettings {
  std::chrono::milliseconds configure_delay{0};  ///< duration of a configuration
  vipu::ResetPolicy resets;
};

class Partitions {
 public:
  struct Parts {
    Loop& loop;
    const WallClock& clock;
    Store& store;
    Commits& commits;
    Revisions& revisions;
    PodSettings settings;
    std::function<void()> changed;  ///< see changed()
  };

  explicit Partitions(Parts parts);
  ~Partitions() { cancelTimers(); }
  Partitions(const Partitions&) = delete;
  Partitions& operator=(const Partitions&) = delete;

  /// Replaces all by what the store has; `table` has the inventory. kDataLoss: it contradicts itself.
  Status load(std::unique_ptr<vipu::PartitionTable> table);
  /// Goes on with what is under way, and with resets that are due. Call it every second.
  void tick();

  vipu::PartitionTable& table() { return *table_; }
  const vipu::PartitionTable& table() const { return *table_; }
  const PodSettings& settings() const { return parts_.settings; }
  /// Jobs that wait may start now.
  void changed() { parts_.changed(); }
  /// A cluster, an agent or an allocation has: tells watchers, and jobs that wait.
  void inventoryChanged();
  vipu::Time now() const;

  /// Adds to the change what can be carried out at once: it is configured without a delay, and released if it
  /// has no holder.
  void goOn(const std::string& id, vipu::Change& change);
  /// Writes all of the change, or takes all of it back. What the store refuses is the result; any other
  /// error of it fails the commit.
  Status keep(const vipu::Change& change);

  /// A change of one call, gone on with and kept.
  Status keep(Result<vipu::Change> change);

  /// The job for which the partition was configured and not used since; empty: it was used, or configured for
  /// no job. Kept in memory only.
  std::string freshFor(const std::string& id) const;
  void setFreshFor(const std::string& id, const std::string& job) { fresh_for_[id] = job; }

  std::uint64_t revisionOf(const std::string& id) const;
  v1::PartitionInfo show(const vipu::Partition& partition) const;

  const PartitionMeters& meters() const { return meters_; }

 private:
  struct Net {  ///< the net effect of a change on one partition
    std::string id;
    std::optional<vipu::Partition> before;
    std::optional<vipu::Partition> after;
  };

  static std::vector<Net> netOf(const vipu::Change& change);
  Status write(const Net& net);
  Status put(const std::optional<vipu::Partition>& before, const vipu::Partition& after);
  void writeBack(const Net& net);
  void noteChange(const Net& net);
  void addUsers(const vipu::Partition& partition);
  void watch(const std::string& id);
  void configured(const std::string& id);
  void count(const vipu::Change& change);
  void countIpuSeconds();
  void cancelTimers();

  Parts parts_;
  std::unique_ptr<vipu::PartitionTable> table_;
  std::map<std::string, TimerId> timers_;  ///< of partitions that are being configured
  std::map<std::string, std::string> fresh_for_;
  std::map<std::string, std::uint64_t> revisions_;
  /// Users who may use each partition, or might at some time since it is known: watchers may have been shown
  /// it then. None: all users.
  std::map<std::string, std::set<std::string>> users_;
  std::uint64_t inventory_revision_ = 0;  ///< 0: it has not changed
  PartitionMeters meters_;
  Clock::time_point counted_at_;
};

}  // namespace pop::popdistd
