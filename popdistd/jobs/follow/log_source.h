// SPDX-License-Identifier: Apache-2.0
// The records of one job for one reader: Controller.Logs. They come from the job's host as the reader takes
// them, and wait for a job that waits, and for a host that is away.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "common/base/loop.h"
#include "popdistd/api/api.h"
#include "popdistd/common/revisions.h"
#include "popdistd/jobs/follow/runner_links.h"
#include "popdistd/jobs/table/host_table.h"
#include "popdistd/jobs/table/job_table.h"

namespace pop::popdistd {

class LogSource final : public Source<v1::Record> {
 public:
  LogSource(JobTable& jobs, const HostTable& hosts, RunnerLinks& links, Revisions& revisions,
            std::int64_t job, const v1::LogsRequest& request, Api::Ready ready);
  ~LogSource() override;
  /// Why the job's records cannot be had, and will not come by themselves. kFailedPrecondition: its host is
  /// down; kNotFound: it was removed.
  static Status outOfReach(const Job& job, const HostTable& hosts, bool follows);
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;

  std::optional<v1::Record> next() override;
  std::optional<Status> ended() const override;

 private:
  struct Ahead {
    v1::Record record;
    std::int64_t credit_bytes = 0;
  };

  void connect();
  void look();
  void take(const v1::Records& records);
  void streamEnded(const Status& why);
  void end(Status why);
  void wake();

  JobTable& jobs_;
  const HostTable& hosts_;
  RunnerLinks& links_;
  Revisions& revisions_;
  const std::int64_t job_;
  const bool follows_;
  const bool events_only_;
  const Api::Ready ready_;
  Revisions::Subscription subscription_;
  RunnerId runner_;               ///< the runner of these records
  std::uint64_t from_;            ///< the next record
  std::int64_t stream_ = 0;       ///< 0: none
  std::deque<Ahead> ahead_;       ///< at most the credit
  std::int64_t taken_bytes_ = 0;  ///< by the reader, and not given as credit yet
  std::optional<Status> ended_;
  bool waits_ = false;
};

}  // namespace pop::popdistd
