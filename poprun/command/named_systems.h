// SPDX-License-Identifier: Apache-2.0
// Systems by their names, for all that is simulated: as they are and with changes, their replicas, the shapes
// that predictions need, and how long exchanges take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pod/collectives/collective.h"
#include "pod/predict/system_shape.h"
#include "pod/system/pod_spec.h"
#include "pod/system/replica_layout.h"
#include "pod/system/what_if.h"

namespace pop {

/// Gradients are of 2-byte elements.
inline constexpr std::size_t kHalfBytes = 2;

/// The rule by which the algorithm of an all-reduce is chosen.
enum class AlgorithmChoice : std::uint8_t { kGcl, kQuickest };

/// That of --algorithm: GCL's unless it is "quickest".
AlgorithmChoice choiceOf(std::string_view algorithm);

double secondsOf(pod::Picoseconds time);

/// The refusal of a time that cannot be counted: "an all-reduce of 10.0 MB on slow takes longer than 53
/// days: …". kInvalidArgument.
Status takesTooLong(const pod::Collective& collective, const pod::PodSpec& system);

/// So many replicas on a system, as many as fit if it is not said, of one IPU if it is not said.
/// kInvalidArgument: they do not fit.
Result<pod::ReplicaLayout> layoutOn(const pod::PodSpec& system, std::optional<std::int64_t> replicas,
                                    std::optional<std::int64_t> ipus_per_replica);

/// The systems of these names, and beside each what it were with the changes, if there are any. Errors as
/// NamedSystems::find() and pod::changed().
Result<std::vector<pod::PodSpec>> systemsOf(const std::vector<std::string>& names,
                                            const pod::WhatIf& what_if);

/// Systems by their names, each found once.
class NamedSystems {
 public:
  /// A preset, or the system of a file (pod::isSystemFile). kInvalidArgument: no Pod is called so, or the
  /// file is wrong; otherwise why it cannot be read.
  Result<pod::PodSpec> find(std::string_view name);

  /// The same as predictions need it, under that name.
  Result<pod::predict::SystemShape> shape(std::string_view name);

  /// The same with changes, under a name that says so. kInvalidArgument: a change that cannot be.
  Result<pod::predict::SystemShape> changedShape(std::string_view name, const pod::WhatIf& what_if);

  /// Presets with this chip that were sold as they are, smallest first: ladders of at most 256 IPUs.
  std::vector<pod::predict::SystemShape> shapesOf(std::string_view chip);

  /// Seconds of an all-reduce on the simulated clock, of a shape from here. The replicas must fit. Errors as
  /// takesTooLong().
  pod::predict::CommunicationTime allReduceTime(AlgorithmChoice choice) const;

 private:
  pod::predict::SystemShape known(const std::string& name, const pod::PodSpec& spec);

  std::map<std::string, pod::PodSpec, std::less<>> specs_;
};

}  // namespace pop
