// SPDX-License-Identifier: Apache-2.0
// A cluster that exists only as numbers: jobs arrive and end at times of a seed, and after each of these a
// plan is made and carried out. It keeps its own account of who has what, and notes what must not be.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "popdistd/queue/plan.h"

namespace pop::queue::testing {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct WorldSettings {
  std::uint64_t seed = 1;
  int num_jobs = 10000;
  int percent_without_limit = 10;
  bool only_in_turn = false;  ///< nothing overtakes: plain FIFO, to compare with
  bool with_quotas = true;
  bool with_priorities = true;
  milliseconds mean_gap = milliseconds(7000);  ///< between two arrivals
  Rules rules;
};

struct WorldResult {
  std::vector<std::string> problems;  ///< broken rules
  std::uint64_t digest = 0;           ///< over each start's job, time and place
  milliseconds longest_wait{0};
  milliseconds mean_wait{0};
  milliseconds makespan{0};
  double slots_used = 0;  ///< part of all slot-time until the last arrival
  int started = 0;
  int promises = 0;  ///< heads that had a time
};

class World {
 public:
  explicit World(const WorldSettings& settings);
  WorldResult run();

 private:
  struct Job {
    Waiting waiting;
    milliseconds runs{0};
    bool has_started = false;
  };

  void makeCluster();
  void makeJobs();
  std::size_t addShape(int kind, bool has_limit, milliseconds limit);
  void arrive(JobId job);
  void end(JobId job);
  void pass();
  void start(const Start& start);
  void checkPromise(const Plan& made, const std::vector<std::size_t>& turn);
  void book(JobId job, const Place& place, int sign);
  void problem(const std::string& what);
  int random(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }

  WorldSettings settings_;
  std::mt19937_64 random_;
  Snapshot now_;
  std::vector<Job> jobs_;
  std::map<std::vector<int>, std::size_t> shape_numbers_;  ///< by what is random in them
  std::map<JobId, Place> places_;
  std::vector<int> slots_used_;
  std::vector<int> jobs_on_;
  std::set<std::pair<std::size_t, int>> ipus_;  ///< taken: domain and IPU
  std::set<std::pair<Time, JobId>> arrivals_;
  std::set<std::pair<Time, JobId>> ends_;
  JobId head_ = 0;
  std::optional<Time> promised_;
  double used_slot_ms_ = 0;
  int total_slots_ = 0;
  Time last_arrival_;
  WorldResult result_;
};

}  // namespace pop::queue::testing
