// SPDX-License-Identifier: Apache-2.0
// Jobs, hosts and records in numbers: popdistd/api/measures.h. One look at each job.
#include "popdistd/jobs/daemon_core.h"

namespace pop::popdistd {

JobMeasures DaemonCore::jobMeasures() const {
  JobMeasures measures{.meters = lives_.meters(), .orphans = static_cast<int>(lives_.orphans().size())};
  for (const auto& [id, job] : jobs_.all()) {
    ++measures.in_state[static_cast<std::size_t>(job.state())];
    measures.instances_running += job.info().instances_running();
    if (job.state() == v1::JOB_QUEUED)
      ++measures.queued_for[static_cast<std::size_t>(job.info().wait_cause())];
    if (!job.info().conditions().empty()) ++measures.unreachable;
  }
  return measures;
}

CoreMeasures DaemonCore::measures() {
  CoreMeasures measures{.version = settings_.version,
                        .epoch = epoch_,
                        .jobs = jobMeasures(),
                        .pods = pods_.measures(),
                        .commits = commits_.meters(),
                        .log_bytes = links_.readBytes(),
                        .watch_resyncs = revisions_.resyncs(),
                        .loop_lag = loop_lag_};
  for (const auto& [name, host] : hosts_.all())
    measures.hosts.push_back({name, host.info().state(), host.info().drained()});
  measures.store_rows = {{"jobs", static_cast<std::int64_t>(jobs_.all().size())},
                         {"hosts", static_cast<std::int64_t>(hosts_.all().size())},
                         {"partitions", static_cast<std::int64_t>(pods_.numPartitions())}};
  if (const Result<std::int64_t> bytes = store_.bytes(); bytes.ok()) measures.store_bytes = bytes.value();
  return measures;
}

}  // namespace pop::popdistd
