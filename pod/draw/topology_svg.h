// SPDX-License-Identifier: Apache-2.0
// A system of IPUs as a picture: its IPUs, machines and gateways, the links between them, and the replicas of
// a job.
#pragma once

#include <string>

#include "pod/system/replica_layout.h"

namespace pop::pod {

/// An SVG, in light or dark as its reader prefers. `spec` must be valid: see validate() in replica_layout.h.
/// It shows the first three IPU-Link domains and the last if there are more than 8. Its size grows with the
/// links.
std::string topologySvg(const PodSpec& spec);

/// The same with a colour for each replica, and IPUs without one in grey. `layout` must be valid.
std::string topologySvg(const ReplicaLayout& layout);

}  // namespace pop::pod
