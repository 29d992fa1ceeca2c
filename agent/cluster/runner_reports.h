// SPDX-License-Identifier: Apache-2.0
// A host's reports on its runners, as messages.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/cluster/runner_directories.h"
#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::agent {

namespace v1 = ::popdist::v1;

v1::RunnerKey keyOf(const RunnerId& id);

v1::HostReport startOf(const RunnerId& id, pid_t pid);
v1::HostReport refusalOf(const RunnerId& id, const Status& why);
v1::HostReport endOf(const RunnerId& id, const std::string& how);
v1::HostReport removalOf(const RunnerId& id);

}  // namespace pop::agent
