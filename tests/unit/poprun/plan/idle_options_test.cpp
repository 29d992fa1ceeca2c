// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/idle_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Options allOfThem() {
  Options options;
  options.binding.cores_per_instance = 2;
  options.hosts.agent_tls = "/etc/popdist";
  options.stack_traces = true;
  options.restart_delay = std::chrono::seconds(1);
  options.min_hosts = 1;
  options.overwrite_config = true;
  options.env_families = {};
  options.tf_tasks.chief = true;
  options.version_format = VersionFormat::kFullJson;
  options.partition.server_host = "vipu";
  options.partition.server_port = 8091;
  options.partition.server_timeout_seconds = 60;
  options.partition.attempts = 2;
  options.partition.remove = false;
  options.partition.sync_type = "ST_GS2_DEFAULT";
  return options;
}

TEST(IdleOptions, AreThoseThatLackAnother) {
  EXPECT_THAT(findIdleOptions({}), IsEmpty());
  EXPECT_THAT(
      findIdleOptions(allOfThem()),
      ElementsAre("--cores-per-instance does nothing without --process-placement spreadcores or compact",
                  "--agent-tls does nothing without --agent-port",
                  "--stack-traces does nothing without --timeout",
                  "--restart-delay does nothing without --max-restarts",
                  "--min-hosts does nothing without --max-restarts",
                  "--overwrite-config does nothing without --export-config",
                  "--tf-config-tasks does nothing without tensorflow in --env-for",
                  "--version-format does nothing without --version",
                  "--vipu-server-host does nothing without --vipu-partition",
                  "--vipu-server-port does nothing without --vipu-partition",
                  "--vipu-server-timeout does nothing without --vipu-partition",
                  "--vipu-partition-attempts does nothing without --vipu-partition",
                  "--remove-partition does nothing without --vipu-partition",
                  "--sync-type does nothing without --vipu-partition"));
}

TEST(IdleOptions, AreThoseAboutSshWithTheAgentService) {
  Options options;
  options.hosts.agent_path = "/opt/popdist-agent";
  EXPECT_THAT(findIdleOptions(options), IsEmpty());
  options.hosts.agent_port = 7000;
  EXPECT_THAT(findIdleOptions(options),
              ElementsAre("--agent-path does nothing without SSH, which --agent-port replaces"));
}

TEST(IdleOptions, AreNoneWithTheOther) {
  Options options = allOfThem();
  options.binding.mode = model::BindMode::kCompact;
  options.hosts.agent_port = 7000;
  options.timeout = std::chrono::seconds(1);
  options.max_restarts = 1;
  options.export_config = "job.cfg";
  options.env_families = contract::allEnvFamilies();
  options.version = true;
  options.partition.name = "p";
  EXPECT_THAT(findIdleOptions(options), IsEmpty());
}

}  // namespace
}  // namespace pop
