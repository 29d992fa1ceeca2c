// SPDX-License-Identifier: Apache-2.0
// A host's view of what it passes on between the daemon and the runners of jobs, taken from the encoded
// bytes. A runner is its user's: a report that the daemon could not decode would end the stream of the whole
// host, and decoding it here could take many times its size.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

struct RunnerReportOutline {
  bool is_up = false;  ///< RunnerUp, the first report of a runner
};

/// kDataLoss: not a valid v1::RunnerReport, or one with more records than anybody sends.
Result<RunnerReportOutline> outlineOfRunnerReport(std::string_view report);

/// The HostReport, encoded, that passes on `report`, an encoded RunnerReport.
std::string runnerSaid(const v1::RunnerKey& key, std::string_view report);

}  // namespace pop::wire
