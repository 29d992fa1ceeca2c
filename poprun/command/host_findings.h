// SPDX-License-Identifier: Apache-2.0
// What an agent has found on its host, out of the wire's form.
#pragma once

#include <chrono>

#include "common/base/status.h"
#include "poprun/plan/doctor_report.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop {

/// All that the agent's answer says of its host, but the clock: that needs the time at which it came.
void takeFindings(const popdist::v1::Welcome& welcome, HostFindings& into);

/// The time there, since 1970; kInternal: no clock shows it.
Result<std::chrono::milliseconds> clockOf(const popdist::v1::Condition& condition);

void takeService(const popdist::v1::HostDescription& description, HostFindings& into);

}  // namespace pop
