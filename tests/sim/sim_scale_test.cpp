// SPDX-License-Identifier: Apache-2.0
// One job over thousands of hosts: what a host costs the controller, with nothing but the network and the
// far side made up. Prints the figures.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/sim_world.h"

namespace pop::sim {
namespace {

// Each instance passes two fences and writes a little; then all end within a second.
Scenario calmLife(int hosts) {
  Scenario scenario;
  scenario.spec = {.hosts = {},
                   .programs = {{.command = {"./train"}, .num_instances = hosts}},
                   .num_instances = hosts,
                   .num_replicas = hosts};
  // TF_CONFIG names every instance to every instance: the square of them, whoever launches.
  scenario.spec.env_families.erase(contract::EnvFamily::kTensorFlow);
  for (int host = 0; host < hosts; ++host) scenario.spec.hosts.push_back({"h" + std::to_string(host)});
  scenario.manners.most_pieces = 4;
  scenario.manners.shortest_ms = 1000;
  scenario.manners.longest_ms = 2000;
  return scenario;
}

double microsecondsPerHost(const World& world, int hosts) {
  return std::chrono::duration<double, std::micro>(world.controllerTime()).count() / hosts;
}

void print(const char* what, const World& world, int hosts) {
  std::printf("%d hosts, %s: %.1f us of the controller per host, %.1f commands and %.1f reports per host\n",
              hosts, what, microsecondsPerHost(world, hosts),
              static_cast<double>(world.commandsSent()) / hosts,
              static_cast<double>(world.reportsSent()) / hosts);
}

class ManyHosts : public ::testing::TestWithParam<int> {};

TEST_P(ManyHosts, RunAJobToItsEnd) {
  const int hosts = GetParam();
  World world(1, calmLife(hosts));
  EXPECT_EQ(world.live(), std::vector<std::string>{});
  EXPECT_EQ(world.outcome()->exit_code, 0);
  print("all goes well", world, hosts);
  EXPECT_LE(world.commandsSent(), 100U * static_cast<unsigned>(hosts))
      << "not a message for each of the others";
}

TEST_P(ManyHosts, PassFencesTogether) {
  const int hosts = GetParam();
  Scenario scenario = calmLife(hosts);
  scenario.manners.most_fences = scenario.manners.least_fences = 2;
  World world(1, scenario);
  EXPECT_EQ(world.live(), std::vector<std::string>{});
  print("two fences", world, hosts);
}

TEST_P(ManyHosts, AreStoppedWhenOneFails) {
  const int hosts = GetParam();
  Scenario scenario = calmLife(hosts);
  scenario.manners.fails = 0.001;
  World world(3, scenario);
  EXPECT_EQ(world.live(), std::vector<std::string>{});
  EXPECT_NE(world.outcome()->exit_code, 0);
  print("one fails", world, hosts);
}

INSTANTIATE_TEST_SUITE_P(Hosts, ManyHosts, ::testing::Values(1000, 10'000));

}  // namespace
}  // namespace pop::sim
