// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/idle_options.h"

#include <array>

namespace pop {
namespace {

using model::PartitionRequest;

struct Rule {
  const char* option;
  bool (*given)(const Options&);
  const char* needed;
  bool (*is_there)(const Options&);
};

bool dividesCores(const Options& options) {
  return options.binding.mode == model::BindMode::kSpreadCores ||
         options.binding.mode == model::BindMode::kCompact;
}
bool startsAgain(const Options& options) {
  return options.max_restarts > 0;
}
template <auto kMember>
bool changesPartition(const Options& options) {
  return options.partition.*kMember != PartitionRequest().*kMember;
}
// Without popdistd any word about a partition asks for one.
bool hasPartition(const Options& options) {
  return !options.partition.name.empty() || options.controller.server.empty();
}

constexpr std::array kRules{
    Rule{"--cores-per-instance", [](const Options& o) { return o.binding.cores_per_instance != 0; },
         "--process-placement spreadcores or compact", dividesCores},
    Rule{"--agent-tls", [](const Options& o) { return !o.hosts.agent_tls.empty(); }, "--agent-port",
         [](const Options& o) { return o.hosts.agent_port != 0; }},
    Rule{"--stack-traces", [](const Options& o) { return o.stack_traces; }, "--timeout",
         [](const Options& o) { return o.timeout.count() > 0; }},
    Rule{"--restart-delay", [](const Options& o) { return o.restart_delay.count() > 0; }, "--max-restarts",
         startsAgain},
    Rule{"--min-hosts", [](const Options& o) { return o.min_hosts.has_value(); }, "--max-restarts",
         startsAgain},
    Rule{"--log-limit",
         [](const Options& o) { return o.detached.log_limit_bytes != DetachedOptions().log_limit_bytes; },
         "--detach, --controller or --on-hangup detach",
         [](const Options& o) { return hasRunner(o.detached) || !o.controller.server.empty(); }},
    Rule{"--overwrite-config", [](const Options& o) { return o.overwrite_config; }, "--export-config",
         [](const Options& o) { return !o.export_config.empty(); }},
    Rule{"--agent-path", [](const Options& o) { return !o.hosts.agent_path.empty(); },
         "SSH, which --agent-port replaces", [](const Options& o) { return o.hosts.agent_port == 0; }},
    Rule{"--tf-config-tasks", [](const Options& o) { return o.tf_tasks != model::TfTasks(); },
         "tensorflow in --env-for",
         [](const Options& o) { return o.env_families.contains(contract::EnvFamily::kTensorFlow); }},
    Rule{"--version-format", [](const Options& o) { return o.version_format != VersionFormat::kText; },
         "--version", [](const Options& o) { return o.version; }},
    Rule{"--scaling-format", [](const Options& o) { return o.scaling_format != ScalingFormat::kMarkdown; },
         "--scaling-report", [](const Options& o) { return !o.scaling_report.empty(); }},
    Rule{"--vipu-server-host", changesPartition<&PartitionRequest::server_host>,
         "--vipu-partition, since --controller is given", hasPartition},
    Rule{"--vipu-server-port", changesPartition<&PartitionRequest::server_port>,
         "--vipu-partition, since --controller is given", hasPartition},
    Rule{"--vipu-server-timeout", changesPartition<&PartitionRequest::server_timeout_seconds>,
         "--vipu-partition, since --controller is given", hasPartition},
    Rule{"--vipu-partition-attempts", changesPartition<&PartitionRequest::attempts>,
         "--vipu-partition, since --controller is given", hasPartition},
    Rule{"--remove-partition", changesPartition<&PartitionRequest::remove>,
         "--vipu-partition, since --controller is given", hasPartition},
    Rule{"--sync-type", changesPartition<&PartitionRequest::sync_type>,
         "--vipu-partition, since --controller is given", hasPartition},
};

}  // namespace

std::vector<std::string> findIdleOptions(const Options& options) {
  std::vector<std::string> warnings;
  for (const Rule& rule : kRules) {
    if (!rule.given(options) || rule.is_there(options)) continue;
    warnings.push_back(std::string(rule.option) + " has no effect without " + rule.needed);
  }
  return warnings;
}

}  // namespace pop
