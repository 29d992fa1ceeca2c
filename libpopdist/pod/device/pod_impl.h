// SPDX-License-Identifier: Apache-2.0
// The replicas of this instance on the emulated Pod.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/group/one_caller.h"
#include "libpopdist/pod/device/device_sum.h"
#include "libpopdist/pod/device/pod_call.h"
#include "libpopdist/pod/device/pod_clock.h"
#include "libpopdist/pod/device/programs.h"
#include "libpopdist/pod/device/replica_messages.h"
#include "popdist/pod.hpp"

namespace popdist {

class Pod::Impl {
 public:
  explicit Impl(Context& context);

  /// Sums; the clock counts `for_clock`.
  void sum(const pod::DeviceTensors& tensors, const pod::Collective& for_clock);
  void sumParts(const pod::DeviceTensors& tensors, std::span<const Part> parts, int group);
  void collective(const pod::PodCall& call);
  void refuseIfWrong(const pod::PodCall& call) const;
  void refuseIfWrong(const pop::Status& of_many) const;
  pod::CallRanks ranksOf(const PodCallOptions& options) const {
    return pod::ranksOf(options.scope, layout(), local_replicas);
  }
  /// Ends a call for all instances: throws.
  void outOfMemory(plan::Operation operation);

  /// Adds the time of a collective. kInvalidArgument: its group, or the time is more than can be counted.
  pop::Status addTime(const pod::Collective& collective);
  pop::Status checkGroup(int group) const;
  void abort(const std::string& why);

  const pod::ReplicaLayout& layout() const { return programs_.layout(); }
  const int first_replica;
  const int local_replicas;
  pod::PodClock clock;

 private:
  class Inside;

  /// The facts on which all instances agree when the Pod is attached.
  struct Attached {
    pod::ReplicaLayout layout;
    std::string method;
    std::vector<int> instance_of_replica;
  };
  static Attached attach(Context& context);
  Impl(Context& context, Attached attached);

  template <typename Run>
  void runInside(plan::Operation operation, const Run& run);
  pop::Status check(const pod::DeviceTensors& tensors) const;
  pop::Status checkParts(std::size_t count, int group) const;
  pod::Program& timed(plan::Operation operation, pop::Result<pod::Program*> program) const;
  pod::ReplicaMessages& messages();
  pod::Programs& programsWithin();

  Context& context_;
  const int instances_;
  const std::vector<int> instance_of_replica_;
  pod::Programs programs_;
  std::unique_ptr<pod::Programs> programs_within_;  ///< nullptr: none have been needed yet
  std::shared_ptr<pod::ReplicaMessages> messages_;  ///< nullptr: none have been needed yet
  const std::unique_ptr<pod::DeviceSum> sum_;
  std::vector<plan::Range> parts_;  ///< the call's in progress
  group::OneCaller caller_;
};

}  // namespace popdist
