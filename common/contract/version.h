// SPDX-License-Identifier: Apache-2.0
// The version of this build, and of the wire between launcher and agents.
#pragma once

#include <cstdint>

namespace pop::contract {

inline constexpr const char* kVersion = POP_VERSION;  // the build says it

/// Launcher and agent must have the same protocol version. It changes with every change of
/// proto/popdist/v1/agent.proto that the other side would misunderstand.
inline constexpr std::uint32_t kAgentProtocol = 5;

/// The same for proto/popdist/v1/host.proto: between the daemon and the hosts that join it.
inline constexpr std::int32_t kHostProtocol = 1;

}  // namespace pop::contract
