// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/runner_reports.h"

#include "common/base/text.h"

namespace pop::agent {

v1::RunnerKey keyOf(const RunnerId& id) {
  v1::RunnerKey key;
  key.set_job(id.job);
  key.set_attempt(id.attempt);
  return key;
}

v1::HostReport startOf(const RunnerId& id, pid_t pid) {
  v1::HostReport report;
  *report.mutable_started()->mutable_key() = keyOf(id);
  report.mutable_started()->set_pid(pid);
  return report;
}

v1::HostReport refusalOf(const RunnerId& id, const Status& why) {
  v1::HostReport report;
  *report.mutable_refused()->mutable_key() = keyOf(id);
  report.mutable_refused()->set_code(static_cast<int>(why.code()));
  report.mutable_refused()->set_why(bounded(why.message()));
  return report;
}

v1::HostReport endOf(const RunnerId& id, const std::string& how) {
  v1::HostReport report;
  *report.mutable_gone()->mutable_key() = keyOf(id);
  report.mutable_gone()->set_why(bounded(how));
  return report;
}

v1::HostReport removalOf(const RunnerId& id) {
  v1::HostReport report;
  *report.mutable_removed()->mutable_key() = keyOf(id);
  return report;
}

}  // namespace pop::agent
