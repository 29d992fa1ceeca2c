// SPDX-License-Identifier: Apache-2.0
// Jobs and hosts as people read them.
#pragma once

#include <string>
#include <vector>

#include "poprun/ui/text_table.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

/// One line for each job, and one above them; "no jobs" if there is none.
std::string jobsTable(const std::vector<v1::JobInfo>& jobs, WallTime now);

/// One line for each host, and one above them; "no hosts have joined" if there is none.
std::string hostsTable(const std::vector<v1::HostInfo>& hosts, WallTime now);

/// All that is known of one, a line for each thing.
std::string jobText(const v1::JobInfo& job, WallTime now);
std::string hostText(const v1::HostInfo& host, WallTime now);
std::string aboutText(const v1::AboutReply& about, const std::string& server);
std::string checkText(const v1::CheckStoreReply& check);

}  // namespace pop::popctl
