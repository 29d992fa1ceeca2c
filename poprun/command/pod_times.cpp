// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/pod_times.h"

#include "common/base/check.h"
#include "pod/clock/clock.h"
#include "pod/collectives/gcl.h"
#include "pod/system/topology.h"

namespace pop {
namespace {

constexpr std::size_t kElementBytes = 2;
constexpr int kMostSoldIpus = 256;

std::string chipOf(const pod::PodSpec& spec) {
  if (spec.name.starts_with("bow")) return "Bow";
  return spec.name.starts_with("mk1") ? "Mk1" : "Mk2";
}

pod::predict::SystemShape shapeOf(const pod::PodSpec& spec) {
  return {spec.name, chipOf(spec), spec.ildIpus(), spec.ilds()};
}

}  // namespace

Result<pod::predict::SystemShape> podShape(std::string_view name) {
  POP_ASSIGN_OR_RETURN(const pod::PodSpec spec, pod::podSpecByName(name));
  return shapeOf(spec);
}

std::vector<pod::predict::SystemShape> podShapesOf(std::string_view chip) {
  std::vector<pod::predict::SystemShape> shapes;
  for (const pod::PodSpec& spec : pod::podPresets()) {
    const bool was_sold = spec.shape.topology == pod::IldTopology::kMesh && spec.ipuCount() <= kMostSoldIpus;
    if (was_sold && chipOf(spec) == chip) shapes.push_back(shapeOf(spec));
  }
  return shapes;
}

double podAllReduceSeconds(const pod::predict::SystemShape& system, std::uint64_t bytes_per_replica,
                           int replicas, int ipus_per_replica) {
  const Result<pod::PodSpec> spec = pod::podSpecByName(system.name);
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
