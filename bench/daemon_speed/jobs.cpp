// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <optional>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/daemon_speed/slurm.h"
#include "bench/harness/session.h"
#include "tests/testing/process_tree.h"

namespace pop::bench {
namespace {

constexpr int kInFlight = 16;
constexpr int kSlots = 64;
constexpr int kJobs = 160;      // of a round
constexpr int kSlurmJobs = 60;  // fewer, since it takes so much longer
constexpr std::chrono::milliseconds kLimit{120'000};

// Each of 16 clients submits a job, waits for its end, and submits the next.
Result<double> popdistdJobsPerSecond(const std::vector<DaemonClient>& clients, int jobs) {
  std::atomic<int> left = jobs;
  const auto work = [&](int thread) -> Status {
    const DaemonClient& client = clients[static_cast<std::size_t>(thread)];
    while (left.fetch_sub(1) > 0) {
      POP_ASSIGN_OR_RETURN(const auto job, client.submit(jobOf({"/bin/true"})));
      POP_RETURN_IF_ERROR(client.waitForSuccess(job.id()));
    }
    return {};
  };
  const Clock::time_point begin = Clock::now();
  POP_RETURN_IF_ERROR(inThreads(kInFlight, work));
  return jobs / secondsSince(begin);
}

// sbatch --wait asks at intervals of seconds, so all are submitted, by 16 at a time, and the queue is watched
// for its end: more in flight is better for Slurm.
Result<double> slurmJobsPerSecond(const SlurmCluster& cluster, int jobs) {
  std::atomic<int> left = jobs;
  const auto work = [&](int) -> Status {
    while (left.fetch_sub(1) > 0) {
      const Result<double> submitted = timeOf(cluster.sbatch(false));
      if (!submitted.ok()) return submitted.status();
    }
    return {};
  };
  const Clock::time_point begin = Clock::now();
  POP_RETURN_IF_ERROR(inThreads(kInFlight, work));
  Status failed;
  const bool idle = testing::waitUntil(
      [&] {
        const Result<bool> idle_now = cluster.isIdle();
        if (!idle_now.ok()) failed = idle_now.status();
        return !failed.ok() || idle_now.value();
      },
      kLimit);
  POP_RETURN_IF_ERROR(failed);
  if (!idle) return internalError("jobs of Slurm have not ended after two minutes");
  return jobs / secondsSince(begin);
}

std::vector<Figure> figuresOf(const DaemonOptions& options, const std::vector<double>& few,
                              const std::vector<double>& many, const std::vector<double>& slurm) {
  const double ours = summarize(few).median;
  const auto ratio = [](double above, const std::vector<double>& below) {
    return below.empty() ? Summary{} : summarize({above / summarize(below).median});
  };
  return {{"jobs", kPopdistd, "16 in flight", "jobs/s", summarize(few)},
          {"jobs", kPopdistd, "16 in flight, " + std::to_string(options.records) + " records", "jobs/s",
           summarize(many)},
          {"jobs", kPopdistd, "with records / without", "", ratio(summarize(many).median, few)},
          {"jobs", kSlurm, "sbatch, 16 at a time", "jobs/s", summarize(slurm)},
          {"jobs", kPopdistd, "popdistd / slurm", "", ratio(ours, slurm)}};
}

}  // namespace

// Both stores take turns, so that what disturbs the machine disturbs both.
DaemonFigures measureJobs(const DaemonOptions& options) {
  PopCluster few, many;
  for (PopCluster* const each : {&few, &many}) {
    POP_RETURN_IF_ERROR(each->startDaemon(options.programs, options.etcd));
    POP_RETURN_IF_ERROR(each->startHost(options.programs, kSlots));
  }
  showProgress("records");
  POP_RETURN_IF_ERROR(makeRecords(many, options.calls(options.records)));
  SlurmCluster slurm;
  const bool with_slurm = slurm.startUnless(options.no_peers);
  POP_ASSIGN_OR_RETURN(const std::vector<DaemonClient> to_few, DaemonClient::connectedTo(few, kInFlight));
  POP_ASSIGN_OR_RETURN(const std::vector<DaemonClient> to_many, DaemonClient::connectedTo(many, kInFlight));
  std::vector<double> few_per_s, many_per_s, slurm_per_s;
  for (int round = 0; round < options.rounds; ++round) {
    showProgress("jobs, round " + std::to_string(round + 1));
    POP_ASSIGN_OR_RETURN(const double with_few, popdistdJobsPerSecond(to_few, options.calls(kJobs)));
    few_per_s.push_back(with_few);
    POP_ASSIGN_OR_RETURN(const double with_many, popdistdJobsPerSecond(to_many, options.calls(kJobs)));
    many_per_s.push_back(with_many);
    if (!with_slurm) continue;
    POP_ASSIGN_OR_RETURN(const double by_slurm, slurmJobsPerSecond(slurm, options.calls(kSlurmJobs)));
    slurm_per_s.push_back(by_slurm);
  }
  return figuresOf(options, few_per_s, many_per_s, slurm_per_s);
}

}  // namespace pop::bench
