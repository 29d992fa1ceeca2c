// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_trace.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "common/base/json.h"
#include "common/base/text.h"
#include "pod/system/system_text.h"

namespace popdist::pod {
namespace {

enum Track : std::uint8_t { kComputation, kCollectives, kStreaming, kDevices };  // IPUs, then links
constexpr std::array<std::string_view, 3> kTrackNames{"computation", "collectives", "streaming"};

// No trace of an instance, and none of poprun simulate, has such a number: the kernel's are below 2^22. Each
// Pod of this process has its own, and so has one of another process whose trace is joined to this one.
std::int64_t nextProcess() {
  static std::atomic<std::int64_t> pods{0};
  constexpr std::int64_t kBeyondPids = std::int64_t{1} << 22;
  return (std::int64_t{1} << 30) + (1 + pods++) * kBeyondPids + ::getpid();
}

std::string microseconds(SimulatedTime time) {
  return pop::numberText(static_cast<double>(time.count()) / 1e6);
}

std::string argumentsOf(const Program& program) {
  const PodCollective& report = program.report;
  return pop::JsonObject()
      .text("method", report.method)
      .number("bytes", static_cast<std::int64_t>(program.collective.bytes()))
      .number("rounds", report.rounds)
      .json("efficiency", pop::numberText(report.efficiency()))
      .json("bound_us", microseconds(report.lower_bound))
      .str();
}

std::string nameOf(const Program& program, const ReplicaLayout& layout) {
  const bool is_within = program.layout->ipus_per_replica < layout.ipus_per_replica;
  return std::string(nameOf(program.collective.kind)) + (is_within ? " within replicas" : "");
}

std::string nameOfDevice(const Topology& topology, int number, bool is_link) {
  if (!is_link) return nodeName(topology.spec(), number);
  const Link& link = topology.links()[static_cast<std::size_t>(number)];
  return nodeName(topology.spec(), link.from) + " to " + nodeName(topology.spec(), link.to);
}

}  // namespace

PodTrace::PodTrace(trace::Recorder& recorder, const ReplicaLayout& layout, std::size_t most_device_bytes)
    : recorder_(recorder),
      layout_(layout),
      topology_(layout.spec),
      process_(nextProcess()),
      most_device_bytes_(most_device_bytes) {
  name("process_name", 0, layout.spec.name + " (simulated time)");
  for (const Track track : {kComputation, kCollectives, kStreaming})
    name("thread_name", track, kTrackNames[track]);
}

void PodTrace::addCompute(SimulatedTime begin, SimulatedTime time) {
  if (time.count() > 0) slice(kComputation, "computation", begin, time, "{}");
}

void PodTrace::addStreaming(SimulatedTime begin, SimulatedTime time) {
  if (time.count() > 0) slice(kStreaming, "streaming", begin, time, "{}");
}

void PodTrace::addCollective(SimulatedTime begin, Program& program) {
  slice(kCollectives, nameOf(program, layout_), begin, program.report.time, argumentsOf(program));
  if (device_bytes_ < most_device_bytes_) addDevices(begin, program);
}

void PodTrace::addDevices(SimulatedTime begin, Program& program) {
  const Collective& collective = program.collective;
  if (program.uses == nullptr)
    program.uses = std::make_unique<const Uses>(
        usesOf(topology_, *program.layout, program.schedule, collective.count, collective.element_bytes));
  const auto add = [&](const std::vector<Use>& uses, bool are_links) {
    for (std::size_t at = 0; at < uses.size(); ++at)
      if (uses[at].busy.count() > 0) addDevice(static_cast<int>(at), are_links, uses[at], begin, program);
  };
  add(program.uses->ipus, false);
  add(program.uses->links, true);
  if (device_bytes_ >= most_device_bytes_)
    std::fprintf(
        stderr,
        "libpopdist: IPUs and links end here in the trace that POPDIST_TRACE asks for, where they have "
        "taken %zu MiB; all else goes on\n",
        most_device_bytes_ >> 20);
}

void PodTrace::addDevice(int number, bool is_link, const Use& use, SimulatedTime begin,
                         const Program& program) {
  const int track = kDevices + number + (is_link ? topology_.nodes() : 0);
  if (named_.insert(track).second) name("thread_name", track, nameOfDevice(topology_, number, is_link));
  const double share =
      static_cast<double>(use.busy.count()) / static_cast<double>(program.report.time.count());
  device_bytes_ += slice(track, nameOf(program, layout_), begin, program.report.time,
                         pop::JsonObject()
                             .number("bytes", static_cast<std::int64_t>(use.bytes))
                             .json("busy", pop::numberText(share))
                             .str());
}

void PodTrace::name(std::string_view what, int track, std::string_view name) {
  recorder_.addJson(pop::JsonObject()
                        .text("ph", "M")
                        .number("pid", process_)
                        .number("tid", track)
                        .text("name", what)
                        .json("args", pop::JsonObject().text("name", name).str())
                        .str());
}

std::size_t PodTrace::slice(int track, std::string_view name, SimulatedTime begin, SimulatedTime time,
                            const std::string& arguments) {
  const std::string event = pop::JsonObject()
                                .text("ph", "X")
                                .number("pid", process_)
                                .number("tid", track)
                                .json("ts", microseconds(begin))
                                .json("dur", microseconds(time))
                                .text("cat", "simulated")
                                .text("name", name)
                                .json("args", arguments)
                                .str();
  recorder_.addJson(event);
  return event.size();
}

std::unique_ptr<PodTrace> makePodTrace(trace::Recorder* recorder, int instance, const ReplicaLayout& layout) {
  if (recorder == nullptr || instance != 0) return nullptr;
  return std::make_unique<PodTrace>(*recorder, layout);
}

}  // namespace popdist::pod
