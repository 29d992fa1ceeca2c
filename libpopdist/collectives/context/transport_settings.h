// SPDX-License-Identifier: Apache-2.0
// The environment's settings for how instances reach each other. They must be the same for all instances
// unless noted.
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
  /// Limit for an instance that aborts to connect to peers that may wait for it. Not in the environment.
  std::chrono::milliseconds call_timeout{1000};

  /// For a fence's tag: the settings that differ from their defaults, as ", POPDIST_TRANSPORT=tcp".
  std::string inTag() const;
};

/// kInvalidArgument names the variable and its valid values.
pop::Result<TransportSettings> transportSettings(const pop::contract::Lookup& lookup);

}  // namespace popdist::context
