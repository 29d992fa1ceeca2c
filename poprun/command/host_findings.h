// SPDX-License-Identifier: Apache-2.0
// Converts what an agent has found on its host from the wire format.
#pragma once

#include <chrono>

#include "common/base/status.h"
#include "poprun/plan/doctor_report.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop {

/// Everything in the agent's answer about its host except the clock, which needs the time of arrival.
void takeFindings(const popdist::v1::Welcome& welcome, HostFindings& into);

/// The host's time since 1970; kInternal: an impossible value.
Result<std::chrono::milliseconds> clockOf(const popdist::v1::Condition& condition);

void takeService(const popdist::v1::HostDescription& description, HostFindings& into);

}  // namespace pop
