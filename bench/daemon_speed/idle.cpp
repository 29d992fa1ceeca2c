// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/harness/session.h"

namespace pop::bench {
namespace {

constexpr std::chrono::seconds kSettle{3};  // what the records have left to do
constexpr std::chrono::seconds kSpan{20};
constexpr int kSlots = 4;

}  // namespace

DaemonFigures measureIdle(const DaemonOptions& options) {
  PopCluster cluster;
  POP_RETURN_IF_ERROR(cluster.startDaemon(options.programs, options.etcd));
  POP_RETURN_IF_ERROR(cluster.startHost(options.programs, kSlots));
  showProgress("records");
  POP_RETURN_IF_ERROR(makeRecords(cluster, options.calls(options.records)));
  showProgress("idle");
  std::this_thread::sleep_for(options.quick ? std::chrono::seconds(0) : kSettle);
  const double before_s = cpuSecondsOf(cluster.daemonPid()), host_before_s = cpuSecondsOf(cluster.hostPid());
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_for(options.quick ? std::chrono::seconds(1) : kSpan);
  const double span_s = secondsSince(begin);
  const double percent = (cpuSecondsOf(cluster.daemonPid()) - before_s) * 100 / span_s;
  const double host_percent = (cpuSecondsOf(cluster.hostPid()) - host_before_s) * 100 / span_s;
  const double mib = residentMibOf(cluster.daemonPid());
  const auto figure = [](const char* what, const char* unit, double value) {
    return Figure{"idle", kPopdistd, what, unit, summarize({value})};
  };
  return std::vector<Figure>{figure("CPU of popdistd", "%", percent),
                             figure("memory of popdistd", "MiB", mib),
                             figure("CPU of the agent service", "%", host_percent),
                             figure("memory of the agent service", "MiB", residentMibOf(cluster.hostPid()))};
}

}  // namespace pop::bench
