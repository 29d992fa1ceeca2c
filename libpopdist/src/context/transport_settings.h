// SPDX-License-Identifier: Apache-2.0
// What the environment says of how instances reach each other. All instances must be told the same, but for
// what says so.
#pragma once

#include <chrono>
#include <string>

#include "common/base/status.h"
#include "common/contract/env_contract.h"

namespace popdist::context {

struct TransportSettings {
  bool tcp_only =
      false;  ///< POPDIST_TRANSPORT=tcp: also between instances of one host, for tests and measurements
  int tcp_streams = 1;  ///< POPDIST_TCP_STREAMS: between two ranks on different hosts
  /// POPDIST_TCP_CONGESTION: as transport::listenOn() has it. Hosts may have different ones.
  std::string tcp_congestion_control{};
  /// Of one that gives up, for connections with those who may wait for it. Not in the environment.
  std::chrono::milliseconds call_timeout{1000};

  /// For a fence's tag: what is not as it is unasked, as ", POPDIST_TRANSPORT=tcp".
  std::string inTag() const;
};

/// kInvalidArgument names the variable and what it may be.
pop::Result<TransportSettings> transportSettings(const pop::contract::Lookup& lookup);

}  // namespace popdist::context
