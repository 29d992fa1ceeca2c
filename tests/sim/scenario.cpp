// SPDX-License-Identifier: Apache-2.0
// Which lives are simulated: calm ones, and every kind of trouble, alone and together.
#include "tests/sim/sim_world.h"

namespace pop::sim {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int upTo(int most) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(most) + 1)); }
  bool oneIn(int sides) { return upTo(sides - 1) == 0; }
  /// `value` one time in `sides`, else nothing.
  double sometimes(int sides, double value) { return oneIn(sides) ? value : 0; }

 private:
  SplitMix64 random_;
};

model::JobSpec specOf(Dice& dice) {
  const int hosts = 1 + dice.upTo(5);
  const int instances = hosts * (1 + dice.upTo(2));
  model::JobSpec spec{.hosts = {},
                      .programs = {{.command = {"./train"}, .num_instances = instances}},
                      .num_instances = instances,
                      .num_replicas = instances};
  for (int host = 0; host < hosts; ++host) spec.hosts.push_back({"h" + std::to_string(host)});
  if (dice.oneIn(5)) spec.kill_grace = milliseconds(dice.upTo(5000));
  if (dice.oneIn(6)) spec.timeout = milliseconds(1 + dice.upTo(6000));
  spec.stack_traces = dice.oneIn(2);
  if (dice.oneIn(3)) {
    spec.max_restarts = 1 + dice.upTo(2);
    spec.restart_delay = milliseconds(dice.upTo(1000));
    if (dice.oneIn(2)) spec.min_hosts = 1 + dice.upTo(hosts - 1);
  }
  return spec;
}

Manners mannersOf(Dice& dice) {
  Manners manners;
  manners.fails = dice.sometimes(3, 0.2);
  manners.aborts = dice.sometimes(6, 0.2);
  manners.unstartable = dice.sometimes(12, 0.1);
  manners.stubborn = dice.sometimes(3, 0.3);
  manners.unkillable = dice.sometimes(12, 0.1);
  manners.most_fences = dice.oneIn(2) ? dice.upTo(4) : 0;
  manners.most_pieces = dice.oneIn(2) ? dice.upTo(12) : 0;
  if (dice.oneIn(8)) manners.most_piece_bytes = 300'000;
  manners.longest_ms = dice.oneIn(2) ? 300 : 8000;
  return manners;
}

}  // namespace

Scenario Scenario::random(std::uint64_t seed) {
  Dice dice(seed);
  Scenario scenario{.spec = specOf(dice), .manners = mannersOf(dice)};
  scenario.slow_screen = dice.sometimes(4, 0.3);
  scenario.weather.most_delay_ms = dice.oneIn(3) ? 100 : 3;
  scenario.faults_within_ms = dice.oneIn(3) ? 400 : 6000;
  if (dice.oneIn(4)) return scenario;  // a calm life, but for the instances
  scenario.weather.loss = dice.sometimes(6, 0.01);
  scenario.weather.duplication = dice.sometimes(4, 0.1);
  scenario.unreachable = dice.sometimes(8, 0.3);
  scenario.cut = dice.sometimes(3, 0.4);
  scenario.crash = dice.sometimes(5, 0.3);
  scenario.freeze = dice.sometimes(5, 0.3);
  scenario.reset = dice.sometimes(6, 0.3);
  scenario.controller_dies = dice.sometimes(6, 1);
  scenario.user_stops = dice.sometimes(5, 1);
  scenario.user_pauses = dice.sometimes(8, 1);
  return scenario;
}

}  // namespace pop::sim
