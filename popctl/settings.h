// SPDX-License-Identifier: Apache-2.0
// Which popdistd is asked: by an option, else the environment, else the user's configuration file, else the
// system's. Each of address and TLS by itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popctl/command.h"

namespace pop::popctl {

struct ServerSettings {
  std::string address = "localhost:8090";  ///< HOST:PORT
  std::string tls;                         ///< directory; empty: without TLS
  std::string tls_option = "--tls";        ///< what has named it, for errors
};

struct Surroundings {
  std::function<const char*(const char* name)> variable;             ///< like getenv
  std::function<Result<std::string>(const std::string& path)> file;  ///< kNotFound: there is none
};

/// kInvalidArgument names the option, variable or line.
Result<ServerSettings> serverSettings(const CommonOptions& options, const Surroundings& here);

/// The files that are read, the user's first.
std::vector<std::string> configFiles(const Surroundings& here);

}  // namespace pop::popctl
