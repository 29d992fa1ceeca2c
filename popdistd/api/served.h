// SPDX-License-Identifier: Apache-2.0
// All that the daemon serves: what its transports carry.
#pragma once

#include "popdistd/api/access_api.h"
#include "popdistd/api/api.h"
#include "popdistd/api/host_gate.h"
#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"

namespace pop::popdistd {

/// They outlive the transports.
struct Served {
  Api& api;
  HostGate& gate;
  PodsApi& pods;
  VipuApi& vipu;
  AccessApi* access = nullptr;  ///< null: it is not served
};

}  // namespace pop::popdistd
