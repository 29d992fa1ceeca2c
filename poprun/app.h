// SPDX-License-Identifier: Apache-2.0
// poprun from end to end: parse → plan → (print | run) → exit code.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/plan/settings.h"
#include "poprun/session/job_session.h"

namespace pop {

/// What needs other hosts; each gives poprun's exit code.
struct HostsHalf {
  int (*run)(const Options& options, const model::JobSpec& spec, const SessionSettings& settings) = nullptr;
  int (*examine)(const Options& options, const model::JobSpec& spec) = nullptr;
  bool by_service_only = false;  ///< only hosts that the agent service is asked for
};

/// poprun's exit code. The first argument is what it was called by: under mpirun's and horovodrun's names it
/// takes their spelling. What needs a `hosts` that is not here is handed over to poprun-hosts, or for the
/// agent service to poprun-service, which are this program with one: other jobs need not load it.
int runApp(int argc, char** argv, const HostsHalf* hosts);

}  // namespace pop
