// SPDX-License-Identifier: Apache-2.0
// Converts the agent port's messages to their wire format and back. Decoding trusts nothing: impossible
// values are kInvalidArgument, naming the field.
#pragma once

#include "common/base/status.h"
#include "common/ports/agent_messages.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

v1::Command encode(const NumberedCommand& command);
v1::Report encode(const NumberedReport& report);

/// Handles neither Hello nor Welcome, which belong to the stream. After an error, `into` is unusable.
Status decode(const v1::Command& command, NumberedCommand& into);
Status decode(const v1::Report& report, NumberedReport& into);

v1::Slice encode(const JobSlice& slice);
Result<JobSlice> decode(const v1::Slice& slice);

v1::Topology encode(const model::HostTopology& topology);
Result<model::HostTopology> decode(const v1::Topology& topology);

}  // namespace pop::wire
