// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_trace.h"

#include <unistd.h>

#include <array>
#include <atomic>

#include "common/base/json.h"
#include "common/base/text.h"

namespace popdist::pod {
namespace {

enum Track : std::uint8_t { kComputation, kCollectives, kStreaming };
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

}  // namespace

PodTrace::PodTrace(trace::Recorder& recorder, const std::string& system)
    : recorder_(recorder), process_(nextProcess()) {
  name("process_name", 0, system + " (simulated time)");
  for (const Track track : {kComputation, kCollectives, kStreaming})
    name("thread_name", track, kTrackNames[track]);
}

void PodTrace::addCompute(SimulatedTime begin, SimulatedTime time) {
  if (time.count() > 0) slice(kComputation, "computation", begin, time, "{}");
}

void PodTrace::addStreaming(SimulatedTime begin, SimulatedTime time) {
  if (time.count() > 0) slice(kStreaming, "streaming", begin, time, "{}");
}

void PodTrace::addCollective(SimulatedTime begin, const Program& program) {
  slice(kCollectives, nameOf(program.collective.kind), begin, program.report.time, argumentsOf(program));
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

void PodTrace::slice(int track, std::string_view name, SimulatedTime begin, SimulatedTime time,
                     const std::string& arguments) {
  recorder_.addJson(pop::JsonObject()
                        .text("ph", "X")
                        .number("pid", process_)
                        .number("tid", track)
                        .json("ts", microseconds(begin))
                        .json("dur", microseconds(time))
                        .text("cat", "simulated")
                        .text("name", name)
                        .json("args", arguments)
                        .str());
}

std::unique_ptr<PodTrace> makePodTrace(trace::Recorder* recorder, int instance, const std::string& system) {
  if (recorder == nullptr || instance != 0) return nullptr;
  return std::make_unique<PodTrace>(*recorder, system);
}

}  // namespace popdist::pod
