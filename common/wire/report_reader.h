// SPDX-License-Identifier: Apache-2.0
// Decodes an agent's report from untrusted bytes.
#pragma once

#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

/// Maximum number of list elements in a report. Each takes some hundred bytes of memory, but as few as two on
/// the wire. A fence's values stay below it while they are within their byte limit (RemoteAgent).
inline constexpr std::size_t kMaxReportElements = 1 << 20;

/// kDataLoss: `message` is malformed. kResourceExhausted: it has too many elements; nothing is built.
Status readReport(const std::string& message, popdist::v1::Report& into);

}  // namespace pop::wire
