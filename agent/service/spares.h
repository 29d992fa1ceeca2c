// SPDX-License-Identifier: Apache-2.0
// Agents that are started in advance: one for each user who has run a job recently, so that the next job need
// not wait for a process to start: of a launch by the service that is 27 to 43 % (docs/adr/0078). They wait
// on their stdin and die with the service.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>

#include "agent/service/job_process.h"
#include "common/base/loop.h"

namespace pop::agent {

struct SparesSettings {
  int most = 16;                                   ///< for all users together; 0: none
  std::chrono::milliseconds idle{10 * 60 * 1000};  ///< a pre-started agent that is unused for this long ends
  std::chrono::milliseconds refill_delay{1000};    ///< delay after a job's start, which needs the CPU more
};

/// Lives on the loop's thread.
class Spares {
 public:
  using Start = std::function<Result<JobProcess>(const std::string& user)>;

  Spares(Loop& loop, SparesSettings settings, Start start);
  ~Spares();
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;

  /// Returns a process of `user`: the one that was started in advance if it is alive, else a new one. Then
  /// starts another one in advance.
  Result<JobProcess> take(const std::string& user);

  /// Ends all agents started in advance: their users' groups may have changed. New ones follow for users for
  /// whom `wanted` holds; the others may no longer run jobs.
  void renew(const std::function<bool(const std::string& user)>& wanted);

  int count() const { return static_cast<int>(spares_.size()); }

 private:
  struct Spare {
    std::string user;
    JobProcess process;
    TimerId idle_timer;
  };
  struct Refill {
    std::string user;
    TimerId timer;
  };

  void scheduleRefill(const std::string& user);
  void refill(const std::string& user);
  void drop(std::list<Spare>::iterator spare);

  Loop& loop_;
  SparesSettings settings_;
  Start start_;
  std::list<Spare> spares_;  ///< the oldest first
  std::list<Refill> refills_;
};

}  // namespace pop::agent
