// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/pod_times.h"

#include <utility>

#include "common/base/check.h"
#include "pod/clock/clock.h"
#include "pod/collectives/gcl.h"
#include "pod/system/system_text.h"
#include "pod/system/topology.h"
#include "poprun/cli/file_text.h"
#include "poprun/cli/simulate_options.h"

namespace pop {
namespace {

constexpr std::size_t kElementBytes = 2;
constexpr int kMostSoldIpus = 256;

// By its peak, so that a system file has the chip of its base.
std::string chipOf(const pod::PodSpec& spec) {
  for (const auto& [preset, chip] : {std::pair{"pod4", "Mk2"}, {"bow-pod16", "Bow"}, {"mk1-16", "Mk1"}}) {
    if (spec.ipu_peak_flops_per_s == pod::podSpecByName(preset).value().ipu_peak_flops_per_s) return chip;
  }
  return "a chip of its own";
}

pod::predict::SystemShape shapeOf(const pod::PodSpec& spec, std::string_view name) {
  return {std::string(name), chipOf(spec), spec.ildIpus(), spec.ilds()};
}

}  // namespace

Result<pod::PodSpec> podOrFile(std::string_view name) {
  if (!cli::isSystemFile(name)) return pod::podSpecByName(name);
  POP_ASSIGN_OR_RETURN(const std::string text, cli::readFileText(std::string(name)));
  return pod::systemFromText(text, name);
}

Result<pod::predict::SystemShape> podShape(std::string_view name) {
  POP_ASSIGN_OR_RETURN(const pod::PodSpec spec, podOrFile(name));
  return shapeOf(spec, name);
}

std::vector<pod::predict::SystemShape> podShapesOf(std::string_view chip) {
  std::vector<pod::predict::SystemShape> shapes;
  for (const pod::PodSpec& spec : pod::podPresets()) {
    const bool was_sold = spec.shape.topology == pod::IldTopology::kMesh && spec.ipuCount() <= kMostSoldIpus;
    if (was_sold && chipOf(spec) == chip) shapes.push_back(shapeOf(spec, spec.name));
  }
  return shapes;
}

double podAllReduceSeconds(const pod::predict::SystemShape& system, std::uint64_t bytes_per_replica,
                           int replicas, int ipus_per_replica) {
  const Result<pod::PodSpec> spec = podOrFile(system.name);
  POP_CHECK(spec.ok());
  const pod::ReplicaLayout layout{
      .spec = spec.value(), .replicas = replicas, .ipus_per_replica = ipus_per_replica};
  const pod::Schedule schedule =
      pod::gclAllReduce(layout, replicas, pod::automaticMethods(layout, replicas, bytes_per_replica));
  const std::uint64_t count = (bytes_per_replica + kElementBytes - 1) / kElementBytes;
  const pod::CollectiveTime time =
      pod::simulate(pod::Topology(spec.value()), layout, schedule, count, kElementBytes);
  return std::chrono::duration<double>(time.total).count();
}

}  // namespace pop
