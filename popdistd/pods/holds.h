// SPDX-License-Identifier: Apache-2.0
// Partitions that programs hold which popdistd does not run: each by a stream, while it lives. When the
// daemon has been restarted, it keeps such a partition for half a minute, until its holder is back with its
// token. One that was made for its holder, which has gone without removing it, is removed after a while.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "popdistd/api/pods_api.h"
#include "popdistd/pods/partitions.h"

namespace pop::popdistd {

class Holds {
 public:
  Holds(Loop& loop, Commits& commits, Partitions& partitions)
      : loop_(loop), commits_(commits), partitions_(partitions) {}

  /// kFailedPrecondition: it has another holder, or is not active. kAlreadyExists: the token is in use.
  Result<std::unique_ptr<Source<v1::HoldReply>>> hold(const Caller& caller, const v1::HoldRequest& request,
                                                      Api::Ready ready);

  /// The holder is told so; the partition is not held any more.
  void end(const std::string& holder, const Status& why);
  /// All are told so; the partitions are still theirs when they come again.
  void endAll(const Status& why);

  /// Partitions have been read from the store: their holders are expected.
  void expect();
  /// Lets those go whose holders have not come again, and removes what was made for them. Call it every
  /// second.
  void tick();

 private:
  class Held;

  Status take(const v1::HoldRequest& request, const std::string& holder);
  void removeLeftOver();
  void letGo(const std::string& token, const std::string& holder);

  Loop& loop_;
  Commits& commits_;
  Partitions& partitions_;
  std::map<std::string, Held*> held_;                        ///< streams, by token
  std::map<std::string, Clock::time_point> expected_until_;  ///< by holder
  std::map<std::string, Clock::time_point> left_since_;      ///< partitions whose holder has gone
};

}  // namespace pop::popdistd
