// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/strategy/device_clock.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "pod/clock/clock.h"
#include "pod/clock/tuner.h"
#include "pod/system/job_system.h"

namespace popdist::train {
namespace {

constexpr SimulatedTime kMaxTime{std::int64_t{1} << 62};

std::optional<pop::pod::ReplicaLayout> layoutOf(const Context& context) {
  const std::int64_t ipus = std::int64_t{context.numLocalReplicas()} * context.numIpusPerReplica();
  pop::Result<pop::pod::PodSpec> spec = pop::pod::jobSystem(context.system(), "POPDIST_SYSTEM", ipus);
  if (!spec.ok()) return std::nullopt;
  pop::pod::ReplicaLayout layout{std::move(*spec), context.numLocalReplicas(), context.numIpusPerReplica()};
  if (!pop::pod::validate(layout).ok()) return std::nullopt;
  return layout;
}

}  // namespace

DeviceClock::DeviceClock(const Context& context)
    : replicas_(static_cast<std::size_t>(context.numLocalReplicas())), layout_(layoutOf(context)) {}

void DeviceClock::sendSums(std::size_t bytes) {
  addLinks(linksTime(bytes) / 2);
  addHost(hostTime(partOf(bytes)));
  times_.out_bytes += partOf(bytes);
}

void DeviceClock::receive(std::size_t bytes) {
  addHost(hostTime(partOf(bytes)));
  addLinks(linksTime(bytes) / 2);
  times_.in_bytes += partOf(bytes);
}

void DeviceClock::sumOnLinks(std::size_t bytes) {
  addLinks(linksTime(bytes));
}

void DeviceClock::compute(double flops) {
  if (!layout_) return;
  std::optional<SimulatedTime> time;
  if (flops >= 0) time = pop::pod::computeTime(layout_->spec, flops, layout_->ipus_per_replica);
  if (!time)
    throwIfError(pop::invalidArgument(pop::numberText(flops) +
                                      " floating-point operations are negative, or no time that counts"),
                 "HostStrategy.advanceCompute");
  advance(*time);
}

void DeviceClock::advance(SimulatedTime time) {
  if (time < SimulatedTime(0) || time > kMaxTime - std::min(times_.all, kMaxTime))
    throwIfError(pop::invalidArgument(std::to_string(time.count()) +
                                      " ps are negative, or take the simulated time beyond 53 days"),
                 "HostStrategy.advance");
  times_.all += time;
}

SimulatedTime DeviceClock::linksTime(std::size_t bytes) {
  if (!layout_ || replicas_ == 1 || bytes == 0) return SimulatedTime(0);
  if (const auto known = simulated_.find(bytes); known != simulated_.end()) return known->second;
  constexpr std::size_t kElementBytes = 4;
  const pop::pod::Collective sum{.group = layout_->replicas,
                                 .count = (bytes + kElementBytes - 1) / kElementBytes,
                                 .element_bytes = kElementBytes};
  const pop::pod::CollectiveTime time =
      pop::pod::gclChoice(pop::pod::Topology(layout_->spec), *layout_, sum).time;
  return simulated_.emplace(bytes, time.total).first->second;
}

SimulatedTime DeviceClock::hostTime(std::size_t bytes_of_replica) const {
  if (!layout_) return SimulatedTime(0);
  const double bytes_per_s = static_cast<double>(layout_->spec.links.host_link_bytes_per_s) *
                             static_cast<double>(layout_->ipus_per_replica);
  return SimulatedTime(std::llround(static_cast<double>(bytes_of_replica) / bytes_per_s * 1e12));
}

void DeviceClock::addLinks(SimulatedTime time) {
  times_.links += time;
  times_.all += time;
}

void DeviceClock::addHost(SimulatedTime time) {
  times_.host += time;
  times_.all += time;
}

}  // namespace popdist::train
