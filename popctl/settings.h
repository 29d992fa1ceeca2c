// SPDX-License-Identifier: Apache-2.0
// Which popdistd is asked, and as whom: by an option, else the environment, else the user's configuration
// file, else the system's. Each of address, TLS and token by itself. Without an address and TLS it is that of
// this machine, by its local socket.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popctl/command.h"

namespace pop::popctl {

struct ServerSettings {
  std::string program = "popctl";          ///< that asks, for messages
  std::string address = "localhost:8090";  ///< HOST:PORT, or unix:PATH
  std::string tls;                         ///< directory; empty: without TLS
  std::string tls_option = "--tls";        ///< the option or file that has named it, for errors
  std::string token_file;                  ///< empty: none
  std::string token_option = "--token-file";
  std::string api_user_id;  ///< V-IPU's, with the next; empty: none
  std::string api_access_key;
};

struct Surroundings {
  std::function<const char*(const char* name)> variable;             ///< like getenv
  std::function<Result<std::string>(const std::string& path)> file;  ///< kNotFound: there is none
  /// True if a process listens at the socket of this path; null: never.
  std::function<bool(const std::string& path)> listens = nullptr;
  /// Ok, or who can read the file of this path besides its owner; null: not checked.
  std::function<Status(const std::string& path)> check_private = nullptr;
};

/// kInvalidArgument names the option, variable or line. kUnavailable: `--server local`, and there is none.
Result<ServerSettings> serverSettings(const CommonOptions& options, const Surroundings& here);

/// The files that are read, the user's first.
std::vector<std::string> configFiles(const Surroundings& here);

/// Possible paths of popdistd's local socket, the machine's first.
std::vector<std::string> localSockets(const Surroundings& here);

}  // namespace pop::popctl
