// SPDX-License-Identifier: Apache-2.0
// Metrics of jobs, hosts and the store.
#include <array>

#include "common/base/text.h"
#include "popdistd/web/metric_builder.h"

namespace pop::popdistd {
namespace {

constexpr const char* kJobStates[] = {"queued", "held", "starting", "running", "ending", "ended"};
constexpr const char* kJobEnds[] = {"", "succeeded", "failed", "cancelled", "timed_out", "lost"};
// By v1::WaitCause.
constexpr const char* kWaitsFor[] = {"unknown", "slots", "ipus", "partition", "behind", "hosts", "quota"};
constexpr const char* kHostStates[] = {"up", "silent", "down"};
static_assert(std::size(kJobStates) == v1::JobState_ARRAYSIZE);
static_assert(std::size(kJobEnds) == v1::JobEnd_ARRAYSIZE);
static_assert(std::size(kHostStates) == v1::HostState_ARRAYSIZE);

void addHosts(MetricBuilder& to, const std::vector<HostMeasures>& hosts) {
  MetricFamily& states = to.gauge("popdist_hosts", "Hosts that have joined, by state.");
  std::array<int, std::size(kHostStates)> in_state{};
  for (const HostMeasures& host : hosts) ++in_state[static_cast<std::size_t>(host.state)];
  for (std::size_t i = 0; i < in_state.size(); ++i) to.put(states, {{"state", kHostStates[i]}}, in_state[i]);
  MetricFamily& up = to.gauge("popdist_host_up", "1: the host is heard of; 0: it is silent or down.");
  MetricFamily& drained = to.gauge("popdist_host_drained", "1: the host was told to take no new jobs.");
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!to.isShown("host", i, hosts[i].name)) continue;
    to.put(up, {{"host", validUtf8(hosts[i].name)}}, hosts[i].state == v1::HOST_UP ? 1 : 0);
    to.put(drained, {{"host", validUtf8(hosts[i].name)}}, hosts[i].drained ? 1 : 0);
  }
}

void addJobs(MetricBuilder& to, const JobMeasures& jobs) {
  MetricFamily& states = to.gauge("popdist_jobs", "Jobs that the daemon has records of, by state.");
  for (std::size_t i = 0; i < jobs.in_state.size(); ++i)
    to.put(states, {{"state", kJobStates[i]}}, jobs.in_state[i]);
  MetricFamily& ended = to.counter("popdist_jobs_total", "Jobs that have ended, by how.");
  for (std::size_t i = 1; i < jobs.meters.ended.size(); ++i)
    to.put(ended, {{"outcome", kJobEnds[i]}}, jobs.meters.ended[i]);
  MetricFamily& reasons = to.gauge("popdist_jobs_queued_by_reason", "Queued jobs, by what they wait for.");
  for (std::size_t i = 0; i < jobs.queued_for.size(); ++i)
    to.put(reasons, {{"reason", kWaitsFor[i]}}, jobs.queued_for[i]);
  to.oneGauge("popdist_jobs_unreachable", "Jobs whose host is silent.", jobs.unreachable);
  to.oneCounter("popdist_jobs_adopted_total",
                "Running jobs that the daemon has taken up again after its start.", jobs.meters.adopted);
  to.oneGauge("popdist_orphan_runners", "Runners on hosts whose job is not in the store.", jobs.orphans);
  to.oneGauge("popdist_instances_running", "Instances of jobs that run.", jobs.instances_running);
}

void addJobTimes(MetricBuilder& to, const JobMeters& meters) {
  to.oneHistogram("popdist_job_queue_seconds", "From a job's submission until it is started.",
                  meters.queue_seconds);
  to.oneHistogram("popdist_job_start_seconds",
                  "From a job's submission until all its instances run, the first time.",
                  meters.start_seconds);
  to.oneHistogram("popdist_job_run_seconds", "From a job's start to its end.", meters.run_seconds);
}

void addRecords(MetricBuilder& to, const CoreMeasures& core) {
  to.oneCounter("popdist_log_bytes_total", "Bytes of jobs' events and output that readers of logs got.",
                core.log_bytes);
  to.oneCounter("popdist_watch_resyncs_total", "Watchers that had fallen back so far that they began anew.",
                core.watch_resyncs);
  to.oneHistogram("popdist_store_commit_seconds", "How long the store's commits took.", core.commits.seconds);
  to.oneCounter("popdist_store_commits_failed_total", "The store's commits that have failed.",
                core.commits.failed);
  MetricFamily& rows = to.gauge("popdist_store_rows", "What the store has records of.");
  for (const auto& [table, count] : core.store_rows) to.put(rows, {{"table", table}}, count);
  to.oneGauge("popdist_store_bytes", "Size of the store.", core.store_bytes);
}

}  // namespace

void addJobMetrics(MetricBuilder& to, const CoreMeasures& core) {
  addHosts(to, core.hosts);
  addJobs(to, core.jobs);
  addJobTimes(to, core.jobs.meters);
  addRecords(to, core);
}

}  // namespace pop::popdistd
