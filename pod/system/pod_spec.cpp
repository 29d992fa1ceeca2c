// SPDX-License-Identifier: Apache-2.0
#include "pod/system/pod_spec.h"

#include <algorithm>

#include "common/base/text.h"

namespace pop::pod {
namespace {

// A Pod64 is the largest single IPU-Link domain; larger systems are Pod64s joined by GW-Links.
constexpr int kPod64Machines = model::kMaxIldMachines;

PodSpec mk2(std::string name, PodShape shape) {
  PodSpec spec;
  spec.name = std::move(name);
  spec.shape = shape;
  return spec;
}

PodSpec bow(std::string name, PodShape shape) {
  PodSpec spec = mk2(std::move(name), shape);
  spec.ipu_peak_flops_per_s =
      87.5e12;  // a quarter of 350 TFLOP/s fp16 at 1.85 GHz (product page); same links as Mk2
  return spec;
}

// Servers of eight cards of two Mk1 IPUs, joined by the hosts' network.
PodSpec mk1(std::string name, int servers) {
  PodSpec spec = mk2(std::move(name), {.ilds = servers, .machines_per_ild = 4});
  spec.shape.gateways = GatewayTopology::kSwitched;
  spec.machines_per_gateway = 4;
  spec.ipu_peak_flops_per_s = 31.25e12;               // a quarter of 125 TFLOP/s fp16 (product page)
  spec.links.host_link_bytes_per_s = 16'000'000'000;  // PCIe Gen4 x8 a chip
  spec.links.gw_link_bytes_per_s = 6'250'000'000;     // assumption: one port of 100 GbE a server, as two
  return spec;
}

PodSpec twisted(PodSpec spec) {
  spec.shape.topology = IldTopology::kBarleyTwist;
  return spec;
}

std::vector<PodSpec> makePresets() {
  const auto pods = [](int ilds) { return PodShape{.ilds = ilds, .machines_per_ild = kPod64Machines}; };
  PodSpec torus = mk2("pod64-torus", pods(1));
  torus.shape.topology = IldTopology::kTorus;
  return {
      mk2("pod4", {.machines_per_ild = 1}),
      mk2("pod16", {.machines_per_ild = 4}),
      mk2("pod64", pods(1)),
      mk2("pod128", pods(2)),
      mk2("pod256", pods(4)),
      bow("bow-pod16", {.machines_per_ild = 4}),
      bow("bow-pod64", pods(1)),
      bow("bow-pod128", pods(2)),
      bow("bow-pod256", pods(4)),
      mk1("mk1-16", 1),
      mk1("mk1-64", 4),
      torus,
      twisted(mk2("pod64-twist", pods(1))),
      mk2("pod1024", pods(16)),
      mk2("pod4096", pods(64)),
      mk2("pod16384", pods(256)),
      mk2("pod65536", pods(model::kMaxIlds)),
  };
}

std::string presetNames() {
  std::vector<std::string> names;
  for (const PodSpec& preset : podPresets()) names.push_back(preset.name);
  return join(names, ", ");
}

// One of those that are chosen for a job that names none.
bool isStandard(const PodSpec& spec) {
  return spec.name.starts_with("pod") && spec.shape.topology == IldTopology::kMesh;
}

}  // namespace

int PodSpec::gatewaysPerIld() const {
  if (wiring) return wiring->gateways;
  return (shape.machines_per_ild + machines_per_gateway - 1) / machines_per_gateway;
}

const std::vector<PodSpec>& podPresets() {
  static const std::vector<PodSpec> presets = makePresets();
  return presets;
}

Result<PodSpec> podSpecByName(std::string_view name) {
  const std::string wanted = lowerCase(name);
  for (const PodSpec& preset : podPresets()) {
    if (preset.name == wanted) return preset;
  }
  return invalidArgument("no Pod is called " + inQuotes(name) + ": use one of " + presetNames());
}

Result<PodSpec> smallestPodFor(std::int64_t ipus) {
  if (ipus < 1) {
    return invalidArgument("a Pod for " + std::to_string(ipus) +
                           " IPUs: the number of replicas and of IPUs per replica must be at least 1");
  }
  const PodSpec* largest = nullptr;
  for (const PodSpec& preset : podPresets()) {
    if (!isStandard(preset)) continue;
    if (preset.ipuCount() >= ipus) return preset;
    largest = &preset;
  }
  return invalidArgument("no Pod has " + std::to_string(ipus) + " IPUs, the largest, " + largest->name +
                         ", has " + std::to_string(largest->ipuCount()) +
                         ": reduce the number of replicas or of IPUs per replica");
}

}  // namespace pop::pod
