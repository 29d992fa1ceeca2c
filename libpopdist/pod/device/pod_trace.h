// SPDX-License-Identifier: Apache-2.0
// The Pod's simulated time in this instance's trace, as a process of its own that begins at 0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libpopdist/pod/device/programs.h"
#include "libpopdist/trace/recorder.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

class PodTrace {
 public:
  /// `system` names the Pod. The recorder outlives it.
  PodTrace(trace::Recorder& recorder, const std::string& system);

  /// Those that take no time are not shown.
  void addCompute(SimulatedTime begin, SimulatedTime time);
  void addStreaming(SimulatedTime begin, SimulatedTime time);

  void addCollective(SimulatedTime begin, const Program& program);

 private:
  void name(std::string_view what, int track, std::string_view name);
  void slice(int track, std::string_view name, SimulatedTime begin, SimulatedTime time,
             const std::string& arguments);

  trace::Recorder& recorder_;
  const std::int64_t process_;
};

/// nullptr if there is no recorder, and for all instances but 0: the clock is the same on each.
std::unique_ptr<PodTrace> makePodTrace(trace::Recorder* recorder, int instance, const std::string& system);

}  // namespace popdist::pod
