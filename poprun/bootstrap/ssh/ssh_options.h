// SPDX-License-Identifier: Apache-2.0
// How hosts are reached over SSH, and which agent is to run there. docs/reference/ssh.md.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pop {

/// The option that sets SshOptions::connect_timeout_ms, for messages.
inline constexpr const char* kConnectTimeoutOption = "--connect-timeout";

enum class HostKeyPolicy {
  kStrict,     ///< a host whose key is not in the known hosts is not used
  kAcceptNew,  ///< an unknown key is added; a changed one is an error
  kOff,        ///< any key will do
};

struct SshOptions {
  std::string user;                         ///< empty: the host's own, else as ~/.ssh/config says
  int port = 0;                             ///< 0: likewise
  std::vector<std::string> identity_files;  ///< empty: those of ~/.ssh/config, or the usual ones
  std::string config_file;                  ///< as `ssh -F`; empty: ~/.ssh/config and the system's
  std::string known_hosts_file;             ///< empty: ~/.ssh/known_hosts
  std::optional<HostKeyPolicy> host_keys;   ///< nothing: as ~/.ssh/config says, else strict
  std::vector<std::string> rsh;             ///< a program instead of libssh: "ssh -J gate"; its words
  int connect_timeout_ms = 10000;           ///< for each host: to connect and authenticate
  int start_timeout_ms = 30000;  ///< for each host: until its agent runs; starts anew when bytes move
  int max_parallel = 32;         ///< key exchanges and authentications at a time
};

/// The connect timeout as ssh's ConnectTimeout takes it: whole seconds, and not less.
inline std::chrono::seconds connectTimeout(const SshOptions& options) {
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(options.connect_timeout_ms));
}

/// The agent that is to run on every host.
struct AgentProgram {
  std::string version;      ///< "0.1.0": `popdist-agent --version` there says "popdist-agent 0.1.0"
  std::string local_file;   ///< copied to hosts that have none; empty: they must have it
  std::string remote_path;  ///< where it is on every host; empty: PATH, then the copy
  std::vector<std::string> arguments{"--stdio"};  ///< words without quotes, backslashes and the like
};

}  // namespace pop
