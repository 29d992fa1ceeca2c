// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/named_systems.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "pod/clock/tuner.h"
#include "pod/system/job_system.h"
#include "pod/system/system_text.h"
#include "poprun/cli/file_text.h"
#include "poprun/cli/simulate_options.h"

namespace pop {
namespace {

constexpr int kMostSoldIpus = 256;

// By its peak, so that a system file has the chip of its base.
std::string chipOf(const pod::PodSpec& spec) {
  for (const auto& [preset, chip] : {std::pair{"pod4", "Mk2"}, {"bow-pod16", "Bow"}, {"mk1-16", "Mk1"}}) {
    if (spec.ipu_peak_flops_per_s == pod::podSpecByName(preset).value().ipu_peak_flops_per_s) return chip;
  }
  return "a chip of its own";
}

double slowestOf(const pod::PodSpec& spec) {
  double slowest = 1;
  for (const auto& [ipu, factor] : spec.speed_of_ipu) slowest = std::min(slowest, factor);
  return slowest;
}

}  // namespace

Result<pod::ReplicaLayout> layoutOn(const pod::PodSpec& system, std::optional<std::int64_t> replicas,
                                    std::optional<std::int64_t> ipus_per_replica) {
  pod::ReplicaLayout layout{
      .spec = system, .replicas = 1, .ipus_per_replica = static_cast<int>(ipus_per_replica.value_or(1))};
  const std::int64_t fitting = std::max(1, system.ipuCount() / layout.ipus_per_replica);
  layout.replicas = static_cast<int>(replicas.value_or(fitting));
  const Status fits = pod::validate(layout);
  if (!fits.ok()) return invalidArgument("--system " + system.name + ": " + fits.message());
  return layout;
}

AlgorithmChoice choiceOf(std::string_view algorithm) {
  return algorithm == "quickest" ? AlgorithmChoice::kQuickest : AlgorithmChoice::kGcl;
}

double secondsOf(pod::Picoseconds time) {
  return std::chrono::duration<double>(time).count();
}

Status takesTooLong(const pod::Collective& collective, const pod::PodSpec& system) {
  const std::string kind(pod::nameOf(collective.kind));
  const std::string size = sizeText(collective.bytes());
  return invalidArgument((kind.front() == 'a' ? "an " : "a ") + kind + " of " + size + " on " + system.name +
                         " takes longer than 53 days: the rates of " + system.name + " are too low, or " +
                         size + " is too much");
}

Result<std::vector<pod::PodSpec>> systemsOf(const std::vector<std::string>& names,
                                            const pod::WhatIf& what_if) {
  NamedSystems pods;
  std::vector<pod::PodSpec> systems;
  for (const std::string& name : names) {
    POP_ASSIGN_OR_RETURN(pod::PodSpec system, pods.find(name));
    systems.push_back(system);
    if (!what_if.any()) continue;
    Result<pod::PodSpec> changed = pod::changed(std::move(system), what_if);
    if (!changed.ok()) return invalidArgument(name + ": " + changed.status().message());
    changed->name += " (what if)";
    systems.push_back(std::move(*changed));
  }
  return systems;
}

Result<pod::PodSpec> NamedSystems::find(std::string_view name) {
  if (const auto known = specs_.find(name); known != specs_.end()) return known->second;
  if (!pod::isSystemFile(name)) return pod::podSpecByName(name);
  POP_ASSIGN_OR_RETURN(const std::string text, cli::readFileText(std::string(name)));
  return pod::systemFromText(text, name);
}

pod::predict::SystemShape NamedSystems::known(const std::string& name, const pod::PodSpec& spec) {
  specs_.insert_or_assign(name, spec);
  return {name, chipOf(spec), spec.ildIpus(), spec.ilds(), slowestOf(spec)};
}

Result<pod::predict::SystemShape> NamedSystems::shape(std::string_view name) {
  POP_ASSIGN_OR_RETURN(const pod::PodSpec spec, find(name));
  return known(std::string(name), spec);
}

Result<pod::predict::SystemShape> NamedSystems::changedShape(std::string_view name,
                                                             const pod::WhatIf& what_if) {
  POP_ASSIGN_OR_RETURN(const pod::PodSpec spec, find(name));
  Result<pod::PodSpec> changed = pod::changed(spec, what_if);
  if (!changed.ok()) return invalidArgument(std::string(name) + ": " + changed.status().message());
  return known(std::string(name) + " (what if)", changed.value());
}

std::vector<pod::predict::SystemShape> NamedSystems::shapesOf(std::string_view chip) {
  std::vector<pod::predict::SystemShape> shapes;
  for (const pod::PodSpec& spec : pod::podPresets()) {
    const bool was_sold = spec.shape.topology == pod::IldTopology::kMesh && spec.ipuCount() <= kMostSoldIpus;
    if (was_sold && chipOf(spec) == chip) shapes.push_back(known(spec.name, spec));
  }
  return shapes;
}

pod::predict::CommunicationTime NamedSystems::allReduceTime(AlgorithmChoice choice) const {
  return [this, choice](const pod::predict::SystemShape& system, std::uint64_t bytes_per_replica,
                        int replicas, int ipus_per_replica) -> Result<double> {
    const auto spec = specs_.find(system.name);
    POP_CHECK(spec != specs_.end());
    const pod::ReplicaLayout layout{
        .spec = spec->second, .replicas = replicas, .ipus_per_replica = ipus_per_replica};
    const pod::Topology topology(spec->second);
    const std::uint64_t count = (bytes_per_replica + kHalfBytes - 1) / kHalfBytes;
    const auto timed = choice == AlgorithmChoice::kGcl ? pod::gclChoice : pod::quickestSchedule;
    const pod::Collective all_reduce{.group = replicas, .count = count, .element_bytes = kHalfBytes};
    const pod::CollectiveTime time = timed(topology, layout, all_reduce).time;
    if (!time.isCounted()) return takesTooLong(all_reduce, spec->second);
    return secondsOf(time.total);
  };
}

}  // namespace pop
