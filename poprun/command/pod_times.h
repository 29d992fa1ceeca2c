// SPDX-License-Identifier: Apache-2.0
// Pods for predictions: their shapes, and how long their exchanges take on the simulated clock.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pod/predict/system_shape.h"
#include "pod/system/pod_spec.h"

namespace pop {

/// A preset, or the system of a file (isSystemFile). kInvalidArgument: no Pod is called so, or the file is
/// wrong; otherwise why it cannot be read.
Result<pod::PodSpec> podOrFile(std::string_view name);

/// The same as predictions need it, under that name.
Result<pod::predict::SystemShape> podShape(std::string_view name);

/// Those with this chip that were sold as they are, smallest first: ladders of at most 256 IPUs.
std::vector<pod::predict::SystemShape> podShapesOf(std::string_view chip);

/// Seconds of an all-reduce on the simulated clock, as GCL would choose it. The replicas must fit on the
/// system, which has been found before.
double podAllReduceSeconds(const pod::predict::SystemShape& system, std::uint64_t bytes_per_replica,
                           int replicas, int ipus_per_replica);

}  // namespace pop
