// SPDX-License-Identifier: Apache-2.0
// A partition as its programs see it, as a picture: its IPUs by their routing ids, the links that its routing
// configures, and its replicas.
#pragma once

#include <string>

#include "popdistd/api/api.h"
#include "proto/popdist/v1/pods.pb.h"

namespace pop::popdistd {

/// An SVG. Of a partition that no Pod can have, for its size or number of replicas, as much as can be drawn.
std::string partitionPicture(const v1::PartitionInfo& partition);

}  // namespace pop::popdistd
