// SPDX-License-Identifier: Apache-2.0
// The Pod's simulated time in this instance's trace, as a process of its own that begins at 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "libpopdist/pod/device/programs.h"
#include "libpopdist/trace/recorder.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

class PodTrace {
 public:
  /// `layout` must be valid. The recorder outlives it.
  PodTrace(trace::Recorder& recorder, const ReplicaLayout& layout,
           std::size_t most_device_bytes = std::size_t{128} << 20);

  /// Those that take no time are not shown.
  void addCompute(SimulatedTime begin, SimulatedTime time);
  void addStreaming(SimulatedTime begin, SimulatedTime time);

  /// On a track of its own, and on those of the IPUs and links that it uses: on these until they have taken
  /// `most_device_bytes` of the file, so that all else has room. Keeps `program.uses`.
  void addCollective(SimulatedTime begin, Program& program);

 private:
  void addDevices(SimulatedTime begin, Program& program);
  void addDevice(int number, bool is_link, const Use& use, SimulatedTime begin, const Program& program);
  void name(std::string_view what, int track, std::string_view name);
  /// The bytes that it takes.
  std::size_t slice(int track, std::string_view name, SimulatedTime begin, SimulatedTime time,
                    const std::string& arguments);

  trace::Recorder& recorder_;
  const ReplicaLayout layout_;
  const Topology topology_;
  const std::int64_t process_;
  const std::size_t most_device_bytes_;
  std::size_t device_bytes_ = 0;
  std::set<int> named_;  ///< tracks of devices
};

/// nullptr if there is no recorder, and for all instances but 0: the clock is the same on each.
std::unique_ptr<PodTrace> makePodTrace(trace::Recorder* recorder, int instance, const ReplicaLayout& layout);

}  // namespace popdist::pod
