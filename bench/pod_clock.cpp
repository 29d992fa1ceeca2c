// SPDX-License-Identifier: Apache-2.0
// Measures the Pod's simulated clock, and shows what it says.
//   bench_pod_clock speed     GCL's ring all-reduce on 64 to 65,536 IPUs: how long it takes to simulate, and
//   the
//                             memory for it
//   bench_pod_clock bounds    all-reduces of 64 KiB to 850 MiB on ladder, torus and barley twist: GCL's
//   choice and
//                             the quickest, beside the lower bound; with and without the cost of steps
// One JSON line for each row.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/base/json.h"
#include "common/base/text.h"
#include "pod/clock/bounds.h"
#include "pod/clock/tuner.h"
#include "pod/collectives/gcl.h"

namespace {

using namespace pop::pod;
using Clock = std::chrono::steady_clock;

double peakMegabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

pop::JsonObject& add(pop::JsonObject& line, std::string_view key, double value) {
  return line.json(key, pop::numberText(std::round(value * 1000) / 1000));
}

double microseconds(Picoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

CollectiveTime simulated(const char* pod) {
  const PodSpec spec = podSpecByName(pod).value();
  const ReplicaLayout layout{spec, spec.ipuCount(), 1};
  return simulate(Topology(spec), layout, gclAllReduce(layout, layout.replicas), 4 << 20, 4);
}

void speed() {
  for (const char* pod : {"pod64", "pod1024", "pod4096", "pod16384", "pod65536"}) {
    std::vector<double> milliseconds;
    CollectiveTime time;
    for (int round = 0; round < 5; ++round) {
      const Clock::time_point begin = Clock::now();
      time = simulated(pod);
      milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    std::ranges::sort(milliseconds);
    pop::JsonObject line;
    line.text("what", "ring all-reduce of 16 MiB, timing only").text("system", pod);
    add(line, "median_ms", milliseconds[2]);
    add(line, "peak_mb", peakMegabytes());
    line.number("rounds", time.rounds);
    add(line, "simulated_us", microseconds(time.total));
    std::printf("%s\n", line.str().c_str());
    std::fflush(stdout);
  }
}

void compare(const PodSpec& spec, std::uint64_t bytes) {
  const ReplicaLayout layout{spec, spec.ipuCount(), 1};
  const Topology topology(spec);
  const Clock::time_point begin = Clock::now();
  const Collective all_reduce{.group = layout.replicas, .count = bytes / 4};
  const TimedSchedule gcl = gclChoice(topology, layout, all_reduce);
  const TimedSchedule quickest = quickestSchedule(topology, layout, all_reduce);
  const double took = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  const Picoseconds bound = allReduceLowerBound(topology, layout, bytes);
  const auto ratio = [](Picoseconds a, Picoseconds b) {
    return static_cast<double>(a.count()) / static_cast<double>(b.count());
  };
  pop::JsonObject line;
  line.text("topology", spec.name).number("ipus", spec.ipuCount());
  line.number("kib", static_cast<std::int64_t>(bytes / 1024));
  add(line, "step_us", microseconds(spec.step_cost)).text("gcl", gcl.name);
  add(line, "gcl_us", microseconds(gcl.time.total)).text("quickest", quickest.name);
  add(line, "quickest_us", microseconds(quickest.time.total));
  add(line, "bound_us", microseconds(bound));
  add(line, "gcl_to_quickest", ratio(gcl.time.total, quickest.time.total));
  add(line, "quickest_to_bound", ratio(quickest.time.total, bound));
  add(line, "tuned_in_ms", took);
  std::printf("%s\n", line.str().c_str());
  std::fflush(stdout);
}

void bounds() {
  for (const char* pod : {"pod64", "pod64-torus", "pod64-twist"}) {
    for (const int machines : {1, 2, 4, 8, 16}) {
      for (const bool with_costs : {false, true}) {
        PodSpec spec = podSpecByName(pod).value();
        spec.shape.machines_per_ild = machines;
        if (!with_costs) spec.step_cost = spec.sync_hop_latency = Picoseconds(0);
        for (const std::uint64_t kib : {64ULL, 1024ULL, 16ULL << 10, 64ULL << 10, 850ULL << 10})
          if (with_costs || kib >= 16 << 10) compare(spec, kib * 1024);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "speed") {
    speed();
  } else if (what == "bounds") {
    bounds();
  } else {
    std::fputs("usage: bench_pod_clock speed|bounds\n", stderr);
    return 2;
  }
  return 0;
}
