// SPDX-License-Identifier: Apache-2.0
// Tries out what a job would need from this host, without a job; for `poprun doctor`.
#pragma once

#include "agent/job/host_address.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::agent {

AddressHints addressHints(const popdist::v1::Hello& hello);

/// Examines what hello.examination() asks for. Finds every problem; one does not hide another.
popdist::v1::Condition examineHost(const popdist::v1::Hello& hello);

}  // namespace pop::agent
