// SPDX-License-Identifier: Apache-2.0
// What a job would need of this host, tried out without a job: for poprun doctor.
#pragma once

#include "agent/job/host_address.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::agent {

AddressHints addressHints(const popdist::v1::Hello& hello);

/// As hello.examination() asks. Every problem is found; none hides another.
popdist::v1::Condition examineHost(const popdist::v1::Hello& hello);

}  // namespace pop::agent
