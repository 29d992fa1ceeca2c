// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/turn.h"

namespace pop::bench {

JsonLine& Turn::addTo(JsonLine& line) const {
  line.add("end", failure.empty() ? "ok" : hung() ? "hung" : "failed");
  if (!failure.empty()) line.add("failure", failure);
  line.add("wall_ms", wallMs()).add("cpu_ms", cpuMs());
  line.add("quiet", gate.quiet).add("idle_before", gate.idle_fraction);
  return line.add("idle_ticks", during.idle).add("busy_ticks", during.busy).add("steal_ticks", during.steal);
}

Turn takeTurn(const Command& command, std::chrono::milliseconds quiet_timeout) {
  const QuietGate::Passed gate = QuietGate(quiet_timeout).wait();
  const CpuTimes before = readCpuTimes();
  Result<RunResult> result = run(command);
  const CpuTimes during = readCpuTimes().since(before);
  std::string failure = failureOf(result);
  return {gate, std::move(result), during, std::move(failure)};
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
    if (!turn.gate.quiet) ++not_quiet;
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
