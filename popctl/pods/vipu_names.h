// SPDX-License-Identifier: Apache-2.0
// popctl under the names of V-IPU's programs: their global options, and their configuration file. The rest of
// a command line is popctl's own, whose grammar is V-IPU's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "popctl/settings.h"

namespace pop::popctl {

/// "vipu", "vipu-admin" and "vipu-cli", with or without a directory.
bool isVipuName(std::string_view program);

struct VipuWords {
  std::string host;  ///< empty: not said, as all of these
  std::string port;
  std::string config;
  std::string user_id;
  std::string access_key;
  bool json = false;
  bool server_version = false;
  bool own_version = false;
  std::vector<std::string> rest;  ///< for popctl's parser
};

/// kInvalidArgument: a value is missing.
Result<VipuWords> parseVipuWords(const std::vector<std::string>& words);

/// Contents of vipu-cli.hcl.
struct VipuConfig {
  std::string host;
  std::string port;
  std::string user_id;
  std::string access_key;
};

/// kInvalidArgument names `path`'s line that says something else.
Result<VipuConfig> parseVipuConfig(const std::string& text, const std::string& path);

/// The server: by options, else VIPU_CLI_API_HOST, else --config or /etc/vipu/vipu-cli.hcl; then with TLS
/// only if POPDIST_TLS says so. Without any of them, popctl's own settings.
Result<ServerSettings> vipuServerSettings(const VipuWords& words, CommonOptions common,
                                          const Surroundings& here);

}  // namespace pop::popctl
