// SPDX-License-Identifier: Apache-2.0
// The version of this build, and of the wire between launcher and agents.
#pragma once

#include <cstdint>

namespace pop::contract {

inline constexpr const char* kVersion = POP_VERSION;  // the build says it

/// Launcher and agent must have the same protocol version. It changes with every change of
/// proto/popdist/v1/agent.proto that the other side would misunderstand.
inline constexpr std::uint32_t kAgentProtocol = 5;

}  // namespace pop::contract
