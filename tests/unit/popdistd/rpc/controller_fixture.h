// SPDX-License-Identifier: Apache-2.0
// The service Controller, served to real clients.
#pragma once

#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {

class ControllerTest : public RpcTest {
 protected:
  ControllerTest() { serve(); }

  bool hasNoReaders() {
    return loop.until([this] { return api.changes.readers().empty() && api.records.readers().empty(); });
  }
};

}  // namespace pop::popdistd
