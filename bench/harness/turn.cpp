// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/turn.h"

#include <thread>

#include "bench/harness/clock.h"

namespace pop::bench {

Quiet awaitQuiet(std::chrono::milliseconds timeout) {
  constexpr double kIdleFraction = 0.95;
  constexpr std::chrono::milliseconds kSpan{100};
  Quiet quiet;
  const auto deadline = Clock::now() + timeout;
  while (!quiet.quiet && Clock::now() < deadline) {
    const CpuTimes before = readCpuTimes();
    std::this_thread::sleep_for(kSpan);
    quiet.idle_fraction = readCpuTimes().since(before).idleFraction();
    quiet.quiet = quiet.idle_fraction >= kIdleFraction;
  }
  return quiet;
}

JsonLine& Turn::addTo(JsonLine& line) const {
  line.add("end", failure.empty() ? "ok" : hung() ? "hung" : "failed");
  if (!failure.empty()) line.add("failure", failure);
  line.add("wall_ms", wallMs()).add("cpu_ms", cpuMs());
  line.add("quiet", before.quiet).add("idle_before", before.idle_fraction);
  return line.add("idle_ticks", during.idle).add("busy_ticks", during.busy).add("steal_ticks", during.steal);
}

Turn takeTurn(const Command& command, std::chrono::milliseconds quiet_timeout) {
  const Quiet quiet = awaitQuiet(quiet_timeout);
  const CpuTimes before = readCpuTimes();
  Result<RunResult> result = run(command);
  const CpuTimes during = readCpuTimes().since(before);
  std::string failure = failureOf(result);
  return {quiet, std::move(result), during, std::move(failure)};
}

std::string failureOf(const Result<RunResult>& run) {
  if (!run.ok()) return run.status().message();
  if (run.value().succeeded()) return {};
  std::string output = run.value().output;
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return inWords(run.value()) + ", output ends: " + output.substr(output.rfind('\n') + 1).substr(0, 200);
}

void Tally::count(const Turn& turn) {
  if (turn.failure.empty()) {
    ++good;
    if (!turn.before.quiet) ++not_quiet;
    return;
  }
  ++(turn.hung() ? hung : failed);
  if (failure.empty()) failure = turn.failure;
}

std::string Tally::marked(const std::string& median) const {
  return (mostlyNotQuiet() ? "~" : "") + median + (hung > 0 ? " h" + std::to_string(hung) : "") +
         (failed > 0 ? " f" + std::to_string(failed) : "");
}

std::string Tally::failures() const {
  if (failure.empty()) return {};
  return std::to_string(hung) + " hung, " + std::to_string(failed) + " failed of " +
         std::to_string(good + hung + failed) + "; first: " + failure;
}

}  // namespace pop::bench
