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
  options.detached.log_limit_bytes = 1 << 30;
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
      ElementsAre("--cores-per-instance has no effect without --process-placement spreadcores or compact",
                  "--agent-tls has no effect without --agent-port",
                  "--stack-traces has no effect without --timeout",
                  "--restart-delay has no effect without --max-restarts",
                  "--min-hosts has no effect without --max-restarts",
                  "--log-limit has no effect without --detach, --controller or --on-hangup detach",
                  "--overwrite-config has no effect without --export-config",
                  "--tf-config-tasks has no effect without tensorflow in --env-for",
                  "--version-format has no effect without --version"));
}

TEST(IdleOptions, OfAPartitionAskForOneButWherePopdistdNeedsItsName) {
  Options options;
  options.controller.server = "head";
  options.partition = allOfThem().partition;
  EXPECT_THAT(
      findIdleOptions(options),
      ElementsAre(
          "--vipu-server-host has no effect without --vipu-partition, since --controller is given",
          "--vipu-server-port has no effect without --vipu-partition, since --controller is given",
          "--vipu-server-timeout has no effect without --vipu-partition, since --controller is given",
          "--vipu-partition-attempts has no effect without --vipu-partition, since --controller is given",
          "--remove-partition has no effect without --vipu-partition, since --controller is given",
          "--sync-type has no effect without --vipu-partition, since --controller is given"));
  options.partition.name = "p";
  EXPECT_THAT(findIdleOptions(options), IsEmpty());
}

TEST(IdleOptions, AreThoseAboutSshWithTheAgentService) {
  Options options;
  options.hosts.agent_path = "/opt/popdist-agent";
  EXPECT_THAT(findIdleOptions(options), IsEmpty());
  options.hosts.agent_port = 7000;
  EXPECT_THAT(findIdleOptions(options),
              ElementsAre("--agent-path has no effect without SSH, which --agent-port replaces"));
}

TEST(IdleOptions, AreNoneWithTheOther) {
  Options options = allOfThem();
  options.binding.mode = model::BindMode::kCompact;
  options.hosts.agent_port = 7000;
  options.timeout = std::chrono::seconds(1);
  options.max_restarts = 1;
  options.detached.detach = true;
  options.export_config = "job.cfg";
  options.env_families = contract::allEnvFamilies();
  options.version = true;
  options.partition.name = "p";
  EXPECT_THAT(findIdleOptions(options), IsEmpty());
}

}  // namespace
}  // namespace pop
