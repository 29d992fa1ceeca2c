// SPDX-License-Identifier: Apache-2.0
// The hosts of the cluster: those that have joined, and those that have been heard of.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "popdistd/api/host_gate.h"
#include "popdistd/common/revisions.h"
#include "popdistd/common/wall_clock.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

/// Bounds of a host: the time that it may say nothing, and the slots that it is believed to have.
struct HostRules {
  std::chrono::milliseconds heartbeat{5000};
  std::chrono::milliseconds silent{15000};
  std::chrono::milliseconds down{60000};
  int most_slots = 0;  ///< of one that says more, only these count; 0: all
};

/// Runners of a user that a host could not start, one after the other. Until the pause is over it is not
/// asked again for this user's jobs.
struct StartPause {
  int refusals = 0;
  std::string why;          ///< of the last
  Clock::time_point began;  ///< the first
  Clock::time_point until;
};

struct Host {
  v1::HostRecord record;
  std::shared_ptr<HostChannel> channel;             ///< null: it has no stream to us
  Clock::time_point heard;                          ///< when it last said something, or we began
  bool is_unheard = false;                          ///< for longer than a short break of its stream takes
  std::map<std::string, StartPause> pauses;         ///< by user
  std::optional<Clock::time_point> started_runner;  ///< when it last did so

  const v1::HostInfo& info() const { return record.info(); }
  bool isUp() const { return channel != nullptr && info().state() == v1::HOST_UP; }
  /// Takes new jobs.
  bool isSchedulable() const { return isUp() && !info().drained() && info().not_schedulable().empty(); }
};

/// Each pause is twice as long as the one before, up to five minutes.
std::chrono::seconds pauseAfter(int refusals);

/// Why the host takes none of the user's jobs for now; empty: it does.
std::string whyPaused(const Host& host, const std::string& user, Clock::time_point now);

/// Why the host takes no new jobs: "host h0 is drained: disk". Empty: it does.
std::string whyNotSchedulable(const Host& host);

class HostTable {
 public:
  /// `save` persists a host whose record has changed.
  HostTable(Loop& loop, const WallClock& clock, Revisions& revisions, HostRules rules,
            std::function<void(const Host&)> save)
      : loop_(loop), clock_(clock), revisions_(revisions), rules_(rules), save_(std::move(save)) {}

  /// Replaces all by what a store has; none of them has joined.
  void load(const std::vector<v1::HostRecord>& records);

  /// The host is there, with this channel in place of an earlier one, which is closed. kAlreadyExists: the
  /// name has a stream from another boot or address that still speaks.
  Status joined(const v1::HostJoins& joins, const std::string& address, std::shared_ptr<HostChannel> channel);
  void heard(Host& host, std::int64_t clock_ms);
  void left(Host& host);
  void drain(Host& host, const std::string& reason, const std::string& by);
  void resume(Host& host);
  void remove(const std::string& name);

  /// Null: no such host.
  Host* find(const std::string& name);
  const Host* find(const std::string& name) const;
  Host* find(const HostChannel& channel);
  std::map<std::string, Host>& all() { return hosts_; }
  const std::map<std::string, Host>& all() const { return hosts_; }

  /// Those that have said nothing for too long become silent, then down. Call it every second.
  void tick();

  const HostRules& rules() const { return rules_; }

 private:
  void changed(Host& host);

  Loop& loop_;
  const WallClock& clock_;
  Revisions& revisions_;
  const HostRules rules_;
  const std::function<void(const Host&)> save_;
  std::map<std::string, Host> hosts_;
  std::map<const HostChannel*, std::string> names_;  ///< of those that have joined
};

}  // namespace pop::popdistd
