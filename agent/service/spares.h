// SPDX-License-Identifier: Apache-2.0
// Agents of jobs that have been started ahead: one for each user who has run a job of late, so that the next
// job does not wait for a process to start. They wait on their stdin and die with the service.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>

#include "agent/service/job_process.h"
#include "common/base/loop.h"

namespace pop::agent {

struct SparesSettings {
  int most = 16;                                   ///< of all users; 0: none
  std::chrono::milliseconds idle{10 * 60 * 1000};  ///< a spare that nobody wants for so long goes
  std::chrono::milliseconds refill_delay{1000};    ///< after a job's start, which needs the CPU more
};

/// On the loop's thread.
class Spares {
 public:
  using Start = std::function<Result<JobProcess>(const std::string& user)>;

  Spares(Loop& loop, SparesSettings settings, Start start);
  ~Spares();
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;

  /// A process of `user`: the spare, if there is one and it lives, else a new one. A new spare follows.
  Result<JobProcess> take(const std::string& user);

  /// Ends all that is kept: its users may have other groups by now. New ones follow, of users for whom
  /// `wanted` holds; the others may run no jobs any more.
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
