// SPDX-License-Identifier: Apache-2.0
// What this host says of itself to whoever may ask, without a job.
#pragma once

#include "common/base/status.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::agent {

Result<popdist::v1::HostDescription> describeHost(int running_jobs);

}  // namespace pop::agent
