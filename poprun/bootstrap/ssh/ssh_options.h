// SPDX-License-Identifier: Apache-2.0
// Settings for reaching hosts over SSH, and for the agent to run there. See docs/reference/ssh.md.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pop {

/// The option that sets SshOptions::connect_timeout_ms, for messages.
inline constexpr const char* kConnectTimeoutOption = "--connect-timeout";

enum class HostKeyPolicy {
  kStrict,     ///< a host whose key is not in the known hosts is an error
  kAcceptNew,  ///< an unknown key is added; a changed one is an error
  kOff,        ///< any key is accepted
};

struct SshOptions {
  std::string user;                         ///< empty: from the host's name, else from ~/.ssh/config
  int port = 0;                             ///< 0: likewise
  std::vector<std::string> identity_files;  ///< empty: those of ~/.ssh/config, or the usual ones
  std::string config_file;                  ///< as `ssh -F`; empty: ~/.ssh/config and the system's
  std::string known_hosts_file;             ///< empty: ~/.ssh/known_hosts
  std::optional<HostKeyPolicy> host_keys;   ///< nothing: as ~/.ssh/config says, else strict
  std::vector<std::string> rsh;             ///< a program instead of libssh: "ssh -J gate"; its words
  int connect_timeout_ms = 10000;           ///< for each host: to connect and authenticate
  bool waits_for_hosts = false;             ///< errors that go once the host is up are tried again until then
  int more_tries = 0;                       ///< of a host that was not reached; each has its own time limits
  std::chrono::milliseconds before_next_try{1000};
  int start_timeout_ms = 30000;  ///< for each host: until its agent runs; starts anew when bytes move
  int max_parallel = 32;         ///< key exchanges and authentications at a time
};

/// The connect timeout for ssh's ConnectTimeout: in whole seconds, rounded up.
inline std::chrono::seconds connectTimeout(const SshOptions& options) {
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(options.connect_timeout_ms));
}

/// The agent that is to run on every host.
struct AgentProgram {
  std::string version;      ///< "0.1.0": `popdist-agent --version` there says "popdist-agent 0.1.0"
  std::string local_file;   ///< copied to hosts without an agent; empty: every host must have one
  std::string remote_path;  ///< its path on every host; empty: PATH, then the copy
  std::vector<std::string> arguments{"--stdio"};  ///< words without quotes, backslashes and the like
};

}  // namespace pop
