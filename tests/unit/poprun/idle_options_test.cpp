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
                  "--overwrite-config does nothing without --export-config"));
}

TEST(IdleOptions, AreNoneWithTheOther) {
  Options options = allOfThem();
  options.binding.mode = model::BindMode::kCompact;
  options.hosts.agent_port = 7000;
  options.timeout = std::chrono::seconds(1);
  options.max_restarts = 1;
  options.export_config = "job.cfg";
  EXPECT_THAT(findIdleOptions(options), IsEmpty());
}

}  // namespace
}  // namespace pop
