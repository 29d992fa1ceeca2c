// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/daemon_speed/slurm.h"
#include "bench/harness/session.h"

namespace pop::bench {
namespace {

constexpr int kClients = 50;
constexpr int kCallsOfEach = 100;  // of the 50, in a round
constexpr int kCallsOfOne = 500;
constexpr int kProcesses = 40;
constexpr int kProcessesAtOnce = 50;

struct Burst {
  double per_s = 0;
  std::vector<double> latencies_ms;
};

Result<double> submitOnce(const DaemonClient& client) {
  const Clock::time_point begin = Clock::now();
  const auto job = client.submit(heldJob());
  if (!job.ok()) return job.status();
  return secondsSince(begin) * 1e3;
}

// Connections are there before the clock starts.
Result<Burst> burst(const std::vector<DaemonClient>& clients, int calls_of_each) {
  Burst result;
  std::mutex mutex;
  const auto work = [&](int thread) -> Status {
    std::vector<double> own;
    for (int call = 0; call < calls_of_each; ++call) {
      POP_ASSIGN_OR_RETURN(const double ms, submitOnce(clients[static_cast<std::size_t>(thread)]));
      own.push_back(ms);
    }
    const std::lock_guard lock(mutex);
    result.latencies_ms.insert(result.latencies_ms.end(), own.begin(), own.end());
    return {};
  };
  const Clock::time_point begin = Clock::now();
  POP_RETURN_IF_ERROR(inThreads(static_cast<int>(clients.size()), work));
  result.per_s = static_cast<double>(result.latencies_ms.size()) / secondsSince(begin);
  return result;
}

Result<std::vector<double>> processTimesMs(const std::vector<std::string>& command, int count) {
  std::vector<double> times;
  for (int call = 0; call < count; ++call) {
    POP_ASSIGN_OR_RETURN(const double seconds, timeOf(command));
    times.push_back(seconds * 1e3);
  }
  return times;
}

Result<double> processesPerSecond(const std::vector<std::string>& command, int calls_of_each) {
  const Clock::time_point begin = Clock::now();
  POP_RETURN_IF_ERROR(inThreads(kProcessesAtOnce, [&](int) -> Status {
    const auto times = processTimesMs(command, calls_of_each);
    return times.ok() ? Status() : times.status();
  }));
  return kProcessesAtOnce * calls_of_each / secondsSince(begin);
}

struct Sample {
  std::vector<double> burst_per_s, burst_p99_ms, burst_ms, one_ms, process_ms, processes_per_s;
};

// One process after the other, and 50 at once.
Status measureProcesses(const DaemonOptions& options, const std::vector<std::string>& command,
                        Sample& sample) {
  POP_ASSIGN_OR_RETURN(const std::vector<double> times, processTimesMs(command, options.calls(kProcesses)));
  sample.process_ms.insert(sample.process_ms.end(), times.begin(), times.end());
  POP_ASSIGN_OR_RETURN(const double rate, processesPerSecond(command, options.calls(4)));
  sample.processes_per_s.push_back(rate);
  return {};
}

Status measurePopdistd(const DaemonOptions& options, const PopCluster& cluster,
                       const std::vector<DaemonClient>& clients, Sample& sample) {
  POP_ASSIGN_OR_RETURN(const Burst once, burst(clients, options.calls(kCallsOfEach)));
  sample.burst_per_s.push_back(once.per_s);
  sample.burst_p99_ms.push_back(quantile(once.latencies_ms, 0.99));
  sample.burst_ms.insert(sample.burst_ms.end(), once.latencies_ms.begin(), once.latencies_ms.end());
  for (int call = 0; call < options.calls(kCallsOfOne); ++call) {
    POP_ASSIGN_OR_RETURN(const double ms, submitOnce(clients.front()));
    sample.one_ms.push_back(ms);
  }
  return measureProcesses(options,
                          {options.programs + "/popctl", "--server", cluster.server(), "--tls", cluster.tls(),
                           "submit", "job", "--held", "/bin/true"},
                          sample);
}

std::vector<Figure> figuresOf(const Sample& ours, const Sample& slurm) {
  const auto figure = [](const char* contestant, const char* what, const char* unit,
                         const std::vector<double>& values) {
    return Figure{"submit", contestant, what, unit, summarize(values)};
  };
  return {figure(kPopdistd, "50 clients", "submits/s", ours.burst_per_s),
          figure(kPopdistd, "50 clients, each submit", "ms", ours.burst_ms),
          figure(kPopdistd, "50 clients, p99 of a round", "ms", ours.burst_p99_ms),
          figure(kPopdistd, "one client", "ms", ours.one_ms),
          figure(kPopdistd, "popctl submit job", "ms", ours.process_ms),
          figure(kSlurm, "sbatch --hold", "ms", slurm.process_ms),
          figure(kPopdistd, "50 times popctl at once", "submits/s", ours.processes_per_s),
          figure(kSlurm, "50 times sbatch at once", "submits/s", slurm.processes_per_s)};
}

}  // namespace

DaemonFigures measureSubmit(const DaemonOptions& options) {
  PopCluster cluster;
  POP_RETURN_IF_ERROR(cluster.startDaemon(options.programs, options.etcd));
  SlurmCluster slurm;
  const bool with_slurm = slurm.startUnless(options.no_peers);
  POP_ASSIGN_OR_RETURN(const std::vector<DaemonClient> clients, DaemonClient::connectedTo(cluster, kClients));
  Sample ours, theirs;
  for (int round = 0; round < options.rounds; ++round) {
    showProgress("submit, round " + std::to_string(round + 1));
    POP_RETURN_IF_ERROR(measurePopdistd(options, cluster, clients, ours));
    if (with_slurm) POP_RETURN_IF_ERROR(measureProcesses(options, slurm.sbatch(true), theirs));
  }
  return figuresOf(ours, theirs);
}

}  // namespace pop::bench
