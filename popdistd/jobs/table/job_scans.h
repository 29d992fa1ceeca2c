// SPDX-License-Identifier: Apache-2.0
// Lists of jobs. A list that has to look at many jobs does so in pieces, so that the loop serves others in
// between; of each user one list at a time goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "common/base/loop.h"
#include "common/base/while_there.h"
#include "popdistd/jobs/table/job_counts.h"
#include "popdistd/jobs/table/job_table.h"

namespace pop::popdistd {

class JobScans {
 public:
  /// The job as the caller may see it.
  using View = std::function<v1::JobInfo(const Caller& caller, const Job& job)>;
  using ReasonFor = std::function<const std::string&(const Caller& caller, const Job& job)>;

  JobScans(Loop& loop, const JobTable& jobs, const Revisions& revisions, View view, ReasonFor reason_for)
      : loop_(loop),
        jobs_(jobs),
        revisions_(revisions),
        view_(std::move(view)),
        reason_for_(std::move(reason_for)) {}

  /// Replies before it returns, if that is little work.
  void list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply);

 private:
  struct Scan {
    Caller caller;
    v1::ListJobsRequest request;
    Reply<v1::ListJobsReply> reply;
    std::int64_t before = 0;  ///< the next job has a number below this
    v1::ListJobsReply page;
    std::size_t bytes = 0;  ///< of the page
  };

  /// One piece; true: the page is complete.
  bool look(Scan& scan) const;
  bool isWanted(const Job& job, const Scan& scan) const;
  void goOnSoon(const std::string& user);
  void goOn(const std::string& user);

  Loop& loop_;
  const JobTable& jobs_;
  const Revisions& revisions_;
  const View view_;
  const ReasonFor reason_for_;
  std::map<std::string, std::deque<Scan>> scans_;  ///< by user; the first of each goes on
  WhileThere while_there_;
};

}  // namespace pop::popdistd
