// SPDX-License-Identifier: Apache-2.0
// A system of IPUs as a picture: its IPUs, machines and gateways, the links between them, and the replicas of
// a job.
#pragma once

#include <string>

#include "pod/system/replica_layout.h"

namespace pop::pod {

/// An SVG, in light or dark as its reader prefers. `spec` must be valid: see validate() in replica_layout.h.
/// Of more than 8 IPU-Link domains it shows the first three and the last. Its size grows with the links.
std::string topologySvg(const PodSpec& spec);

/// The same with a colour for each replica, and IPUs without one in grey. `layout` must be valid.
std::string topologySvg(const ReplicaLayout& layout);

}  // namespace pop::pod
