// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/harness/session.h"

namespace pop::bench {
namespace {

namespace v1 = ::popdist::v1;

constexpr int kLogBytes = 215'000'000;

struct Replay {
  double seconds = 0;
  std::int64_t bytes = 0;
};

Result<Replay> replay(const DaemonClient& client, std::int64_t job) {
  grpc::ClientContext context;
  v1::LogsRequest request;
  request.mutable_job()->set_id(job);
  Replay result;
  const Clock::time_point begin = Clock::now();
  const auto stream = client.stub().Logs(&context, request);
  for (v1::Record record; stream->Read(&record);)
    result.bytes += static_cast<std::int64_t>(record.output().text().size());
  POP_RETURN_IF_ERROR(statusOf(stream->Finish()));
  result.seconds = secondsSince(begin);
  return result;
}

}  // namespace

// Lines of 80 bytes.
DaemonFigures measureLogs(const DaemonOptions& options) {
  PopCluster cluster;
  POP_RETURN_IF_ERROR(cluster.startDaemon(options.programs, options.etcd));
  POP_RETURN_IF_ERROR(cluster.startHost(options.programs, 1));
  POP_ASSIGN_OR_RETURN(const DaemonClient client, DaemonClient::connectedTo(cluster));
  const int bytes = options.calls(kLogBytes);
  v1::SubmitRequest request =
      jobOf({"/bin/sh", "-c", "yes " + std::string(79, 'x') + " | head -c " + std::to_string(bytes)});
  request.set_log_limit_bytes(std::int64_t{1} << 30);
  showProgress("logs: writing");
  const Clock::time_point begin = Clock::now();
  POP_ASSIGN_OR_RETURN(const v1::JobInfo job, client.submit(request));
  POP_RETURN_IF_ERROR(client.waitForSuccess(job.id()));
  const double written_s = secondsSince(begin);
  std::vector<double> rates, daemon_s, host_s;
  for (int round = 0; round < options.rounds; ++round) {
    showProgress("logs, round " + std::to_string(round + 1));
    const double daemon_before = cpuSecondsOf(cluster.daemonPid()),
                 host_before = cpuSecondsOf(cluster.hostPid());
    POP_ASSIGN_OR_RETURN(const Replay once, replay(client, job.id()));
    if (once.bytes != bytes)
      return internalError("the log has " + std::to_string(once.bytes) + " of " + std::to_string(bytes) +
                           " bytes");
    rates.push_back(bytes / 1e6 / once.seconds);
    daemon_s.push_back(cpuSecondsOf(cluster.daemonPid()) - daemon_before);
    host_s.push_back(cpuSecondsOf(cluster.hostPid()) - host_before);
  }
  const auto figure = [](const char* what, const char* unit, const std::vector<double>& values) {
    return Figure{"logs", kPopdistd, what, unit, summarize(values)};
  };
  return std::vector<Figure>{figure("replay", "MB/s", rates),
                             figure("CPU time of popdistd for a replay", "s", daemon_s),
                             figure("CPU time of the agent service for a replay", "s", host_s),
                             figure("the job that wrote it", "MB/s", {bytes / 1e6 / written_s})};
}

}  // namespace pop::bench
