// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/pod_spec.h"

#include "common/base/text.h"

namespace popdist::pod {
namespace {

// A Pod64 is the largest single IPU-Link domain; larger systems are Pod64s joined by GW-Links.
constexpr int kMachinesPerPod64 = 16;

PodSpec mk2(std::string name, int pods, int machines_per_pod) {
  PodSpec spec;
  spec.name = std::move(name);
  spec.pods = pods;
  spec.machines_per_pod = machines_per_pod;
  return spec;
}

PodSpec bow(std::string name, int pods, int machines_per_pod) {
  PodSpec spec = mk2(std::move(name), pods, machines_per_pod);
  spec.ipu_peak_flops_per_s =
      87.5e12;  // a quarter of 350 TFLOP/s fp16 at 1.85 GHz (product page); same links as Mk2
  return spec;
}

std::string presetNames() {
  std::vector<std::string> names;
  for (const PodSpec& preset : podPresets()) names.push_back(preset.name);
  return pop::join(names, ", ");
}

}  // namespace

const std::vector<PodSpec>& podPresets() {
  static const std::vector<PodSpec> presets = {
      mk2("pod4", 1, 1),
      mk2("pod16", 1, 4),
      mk2("pod64", 1, kMachinesPerPod64),
      mk2("pod128", 2, kMachinesPerPod64),
      mk2("pod256", 4, kMachinesPerPod64),
      bow("bow-pod16", 1, 4),
      bow("bow-pod64", 1, kMachinesPerPod64),
      bow("bow-pod128", 2, kMachinesPerPod64),
      bow("bow-pod256", 4, kMachinesPerPod64),
  };
  return presets;
}

Result<PodSpec> podSpecByName(std::string_view name) {
  const std::string wanted = pop::lowerCase(name);
  for (const PodSpec& preset : podPresets()) {
    if (preset.name == wanted) return preset;
  }
  return pop::invalidArgument("no Pod is called " + pop::inQuotes(name) + ": use one of " + presetNames());
}

Result<PodSpec> smallestPodFor(std::int64_t ipus) {
  if (ipus < 1) {
    return pop::invalidArgument("a Pod for " + std::to_string(ipus) +
                                " IPUs: the number of replicas and of IPUs per replica must be at least 1");
  }
  const PodSpec* largest = nullptr;
  for (const PodSpec& preset : podPresets()) {
    if (preset.name.starts_with("bow")) continue;
    if (preset.ipuCount() >= ipus) return preset;
    largest = &preset;
  }
  return pop::invalidArgument("no Pod has " + std::to_string(ipus) + " IPUs, the largest, " + largest->name +
                              ", has " + std::to_string(largest->ipuCount()) +
                              ": reduce the number of replicas or of IPUs per replica");
}

}  // namespace popdist::pod
