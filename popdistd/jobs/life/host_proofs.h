// SPDX-License-Identifier: Apache-2.0
// Asks the hosts of a job, whose runner is gone, until each is free of it. Agents end their instances when
// they hear nothing of the runner; a host that is silent for longer than that takes is as good as one that
// says so.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/base/loop.h"
#include "popdistd/jobs/table/host_table.h"

namespace pop::popdistd {

class HostProofs {
 public:
  HostProofs(Loop& loop, HostTable& hosts) : loop_(loop), hosts_(hosts) {}
  ~HostProofs() { clear(); }
  HostProofs(const HostProofs&) = delete;
  HostProofs& operator=(const HostProofs&) = delete;

  struct Question {
    std::int64_t job = 0;
    std::string agent_job_id;     ///< by which the hosts' agents know the job
    std::set<std::string> hosts;  ///< that may not be free of it
  };
  /// Calls `free` once all are, possibly before it returns. A job that is asked for stays so: nothing new.
  void ask(Question question, std::function<void()> free);
  /// The same, but it begins with the next second.
  void askSoon(Question question, std::function<void()> free);

  /// A host says that it is free of the job.
  void isFree(std::int64_t job, const std::string& host);

  void forget(std::int64_t job);
  void clear();

 private:
  struct Asked {
    Question question;
    std::function<void()> free;
    TimerId timer{};
  };

  bool add(Question question, std::function<void()> free);
  void askAgain(std::int64_t job);
  void wait(std::int64_t job, Asked& asked);
  void endIfAllFree(std::int64_t job);

  Loop& loop_;
  HostTable& hosts_;
  std::map<std::int64_t, Asked> asked_;
};

}  // namespace pop::popdistd
