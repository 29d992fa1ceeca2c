// SPDX-License-Identifier: Apache-2.0
// States of jobs and hosts, and signals, in the words that people use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

/// "queued", "running"; of a job that has ended, how: "succeeded", "lost".
std::string stateText(const v1::JobInfo& job);

/// For a place, or for somebody who lets it go on.
bool waits(const v1::JobInfo& job);

/// "up", "silent", "down"; with "drained".
std::string stateText(const v1::HostInfo& host);

/// "queued,held". kInvalidArgument names the word that is none.
Result<std::vector<v1::JobState>> parseStates(std::string_view text);

/// "TERM", "sigterm", "15".
Result<int> parseSignal(const std::string& text);

/// "12", or a name. kInvalidArgument: neither.
Result<v1::JobRef> parseJob(const std::string& text);

}  // namespace pop::popctl
