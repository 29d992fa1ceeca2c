// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>

#include <set>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/daemon_speed/slurm.h"
#include "bench/harness/session.h"

namespace pop::bench {
namespace {

namespace v1 = ::popdist::v1;

constexpr int kInstances = 32;
constexpr int kSlots = 64;
constexpr int kLaunches = 5;  // of a round

// Seconds from before the submit until a line of each instance is here, and the job's end is waited for.
Result<double> launchOnce(const DaemonClient& client) {
  const Clock::time_point begin = Clock::now();
  POP_ASSIGN_OR_RETURN(const v1::JobInfo job, client.submit(jobOf({"/bin/echo", "line"}, kInstances)));
  grpc::ClientContext context;
  v1::LogsRequest request;
  request.mutable_job()->set_id(job.id());
  request.set_follow(true);
  const auto stream = client.stub().Logs(&context, request);
  std::set<int> heard;
  double at_s = 0;
  for (v1::Record record; stream->Read(&record);) {
    if (!record.has_output()) continue;
    heard.insert(record.output().instance());
    if (heard.size() == kInstances && at_s == 0) at_s = secondsSince(begin);
  }
  POP_RETURN_IF_ERROR(statusOf(stream->Finish()));
  if (at_s == 0) return internalError("the log has too few instances");
  return at_s;
}

}  // namespace

DaemonFigures measureLaunch(const DaemonOptions& options) {
  PopCluster cluster;
  POP_RETURN_IF_ERROR(cluster.startDaemon(options.programs, options.etcd));
  POP_RETURN_IF_ERROR(cluster.startHost(options.programs, kSlots));
  SlurmCluster slurm;
  const bool with_slurm = slurm.startUnless(options.no_peers);
  POP_ASSIGN_OR_RETURN(const DaemonClient client, DaemonClient::connectedTo(cluster));
  POP_ASSIGN_OR_RETURN([[maybe_unused]] const double warm, launchOnce(client));
  std::vector<double> ours, theirs;
  for (int round = 0; round < options.rounds; ++round) {
    showProgress("launch, round " + std::to_string(round + 1));
    for (int launch = 0; launch < options.calls(kLaunches); ++launch) {
      POP_ASSIGN_OR_RETURN(const double seconds, launchOnce(client));
      ours.push_back(seconds * 1e3);
    }
    if (!with_slurm) continue;
    POP_ASSIGN_OR_RETURN(const double seconds, timeToLine(slurm.srun(kInstances), kInstances));
    theirs.push_back(seconds * 1e3);
  }
  return std::vector<Figure>{
      {"launch", kPopdistd, "32 x 1, last first line", "ms", summarize(ours)},
      {"launch", kSlurm, "srun -n32 --overcommit, last line", "ms", summarize(theirs)}};
}

}  // namespace pop::bench
