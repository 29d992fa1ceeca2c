// SPDX-License-Identifier: Apache-2.0
#include "choices.h"

#include <map>
#include <string>

void addSchedule(CommandLine& line, popdist::train::ScheduleKind& schedule) {
  using Kind = popdist::train::ScheduleKind;
  line.choice("schedule", "grouped, interleaved or sequential", [&schedule](const std::string& name) {
    static const std::map<std::string, Kind> kNames = {
        {"grouped", Kind::kGrouped}, {"interleaved", Kind::kInterleaved}, {"sequential", Kind::kSequential}};
    const auto found = kNames.find(name);
    if (found != kNames.end()) schedule = found->second;
    return found != kNames.end();
  });
}

void addIsa(CommandLine& line, std::optional<Isa>& isa) {
  line.choice("isa", "baseline, avx2 or avx512", [&line, &isa](const std::string& name) {
    isa = isaNamed(name);
    if (isa && *isa > bestIsa())
      line.mistake("--isa: this CPU has no " + name + ", only " + nameOf(bestIsa()));
    return isa.has_value();
  });
}
