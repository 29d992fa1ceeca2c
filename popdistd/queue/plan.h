// SPDX-License-Identifier: Apache-2.0
// The plan of a pass: the waiting jobs that start now, and their places; each other one's cause, and its
// expected start if that is known. A pure function of a Snapshot; the same of the same.
//
// The rules are in docs/spec/daemon_jobs.md ("Which job starts where"). In short: jobs are looked at in turn;
// one that does not fit has a place booked, which later ones leave to it.
#pragma once

#include <string>
#include <vector>

#include "popdistd/queue/forecast.h"
#include "popdistd/queue/quota.h"
#include "popdistd/queue/shape.h"

namespace pop::queue {

struct Rules {
  std::chrono::milliseconds backfill_age = std::chrono::minutes(10);  ///< from then on, places are booked
                                                                      ///< for an unknown time, too
  std::chrono::milliseconds age_bonus = std::chrono::hours(24);       ///< this wait counts as one of priority
  bool fair_share = false;
  std::size_t most_bookings = 32;  ///< of one pass; jobs after these only fill what is left
};

struct Waiting {
  JobId job = 0;
  std::size_t shape = 0;
  std::size_t user = 0;
  int priority = 0;
  Time since;
};

/// All of what a pass looks at. Numbers are places in these vectors.
struct Snapshot {
  Time now;
  Rules rules;
  std::vector<Host> hosts;
  std::vector<Pool> pools;  ///< the allocation of the same number has its quota
  std::vector<std::string> partitions;
  std::vector<Shape> shapes;
  std::vector<Account> users;        ///< with what runs
  std::vector<Account> allocations;  ///< likewise
  std::vector<Running> running;
  std::vector<Waiting> waiting;  ///< in any order
};

/// Why a job waits: all that there are.
enum class Why : std::uint8_t {
  kSlots,      ///< hosts that it could use are full
  kIpus,       ///< no block of IPUs is free
  kPartition,  ///< another job has its partition
  kBehind,     ///< its resources are booked for a job before it
  kHosts,      ///< hosts are down, drained, or not there; also what else no job's end changes
  kQuota,
};

struct Wait {
  JobId job = 0;
  Why why = Why::kSlots;
  std::size_t text = 0;          ///< in Plan::texts
  std::optional<Time> expected;  ///< by the limits of jobs; it may be earlier
};

struct Start {
  JobId job = 0;
  Place place;
};

struct Plan {
  std::vector<Start> starts;       ///< in turn
  std::vector<Wait> waits;         ///< in turn
  std::vector<std::string> texts;  ///< reasons, for people
};

Plan plan(const Snapshot& snapshot);

/// The numbers of `snapshot.waiting` in the order in which they are looked at: by priority, of which a day of
/// waiting counts as one, and a user's claim as up to one.
std::vector<std::size_t> inTurn(const Snapshot& snapshot);

}  // namespace pop::queue
