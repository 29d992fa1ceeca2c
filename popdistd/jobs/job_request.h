// SPDX-License-Identifier: Apache-2.0
// From what a client submits to a job that waits, or to every mistake in it. Pure.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "popdistd/jobs/table/job_table.h"

namespace pop::popdistd {

struct NewJob {
  v1::JobRecord record;  ///< without id and times
  std::unique_ptr<LiveJob> live;
};

/// kInvalidArgument has a line for each mistake.
Result<NewJob> newJob(const v1::SubmitRequest& request, const std::string& user, v1::Role role);

/// The job that a record of the store has, which has not ended. kDataLoss: it cannot be read.
Result<std::unique_ptr<LiveJob>> liveJob(const v1::JobRecord& record);

/// The request in a few bytes: the same for the same request.
std::string requestDigest(const v1::SubmitRequest& request);

/// A client's request id, apart from those of other users. Empty: it has none.
std::string requestKey(const std::string& user, const std::string& request_id);

/// Instances on each of the hosts, in this order, as the job's placement divides them.
std::map<std::string, int> loadOn(const model::JobSpec& spec, const std::vector<std::string>& hosts);

/// The address at which jobs find V-IPU's API of this daemon.
struct VipuServer {
  std::string host;  ///< empty: the host that the job itself names
  int port = 8090;
};

/// The job as its runner gets it. It tells its instances of their partition: its Pod (`system`), V-IPU's
/// server, and the partition's name, by which libraries ask there for the IPUs of their GCD.
std::string specFor(const model::JobSpec& spec, const std::vector<std::string>& hosts,
                    const VipuServer& vipu_server, const std::string& system);

}  // namespace pop::popdistd
