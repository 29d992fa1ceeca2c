// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/vipu_names.h"

#include <array>

#include "common/base/text.h"

namespace pop::popctl {
namespace {

constexpr const char* kSystemFile = "/etc/vipu/vipu-cli.hcl";

struct Flag {
  std::string_view word;
  bool VipuWords::*to;  // null: it changes nothing here
};
struct Setting {
  std::string_view word;
  std::string VipuWords::*to;
};

// -a is for all end points.
constexpr std::array kFlags{
    Flag{"-a", nullptr},
    Flag{"--showjson", &VipuWords::json},
    Flag{"--server-version", &VipuWords::server_version},
    Flag{"--version", &VipuWords::own_version},
};
constexpr std::array kSettings{
    Setting{"--api-host", &VipuWords::host},       Setting{"-H", &VipuWords::host},
    Setting{"--api-port", &VipuWords::port},       Setting{"--config", &VipuWords::config},
    Setting{"--api-user-id", &VipuWords::user_id}, Setting{"--api-access-key", &VipuWords::access_key},
};

const Flag* flagOf(std::string_view word) {
  for (const Flag& flag : kFlags) {
    if (flag.word == word) return &flag;
  }
  return nullptr;
}

// "--api-host=h" has its value with it.
const Setting* settingOf(std::string_view word) {
  for (const Setting& setting : kSettings) {
    if (setting.word == word.substr(0, word.find('='))) return &setting;
  }
  return nullptr;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

Status readLine(std::string_view line, const std::string& where, VipuConfig& config) {
  const std::string_view text = trimmed(line);
  if (text.empty() || text.starts_with('#') || text.starts_with("//")) return {};
  const std::size_t equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, equals));
  const bool known =
      key == "api-host" || key == "api-port" || key == "api-user-id" || key == "api-access-key";
  if (equals == std::string_view::npos || !known)
    return invalidArgument(where + ": " + inQuotes(text) +
                           R"( is not api-host="HOST", api-port, api-user-id or api-access-key)");
  const std::string value = unquoted(trimmed(text.substr(equals + 1)));
  if (key == "api-host") config.host = value;
  if (key == "api-port") config.port = value;
  if (key == "api-user-id") config.user_id = value;
  if (key == "api-access-key") config.access_key = value;
  return {};
}

// Nothing, where there is no file that nobody has named.
Result<VipuConfig> readConfig(const VipuWords& words, const Surroundings& here) {
  const std::string path = words.config.empty() ? kSystemFile : words.config;
  const Result<std::string> text = here.file(path);
  if (text.code() == Code::kNotFound && words.config.empty()) return VipuConfig();
  if (!text.ok()) return invalidArgument("--config: " + text.status().message());
  return parseVipuConfig(text.value(), path);
}

// As for a token's file.
Status checkKeyFile(const VipuWords& words, const Surroundings& here) {
  if (!here.check_private) return {};
  const std::string path = words.config.empty() ? kSystemFile : words.config;
  const Status is_private = here.check_private(path);
  return is_private.ok() ? is_private : Status(is_private.code(), path + ": " + is_private.message());
}

}  // namespace

bool isVipuName(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "vipu" || name == "vipu-admin" || name == "vipu-cli";
}

Result<VipuWords> parseVipuWords(const std::vector<std::string>& words) {
  VipuWords parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (const Flag* const flag = flagOf(word)) {
      if (flag->to != nullptr) parsed.*flag->to = true;
      continue;
    }
    const Setting* const setting = settingOf(word);
    if (setting == nullptr) {
      parsed.rest.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos && i + 1 == words.size()) return invalidArgument(word + " needs a value");
    const std::string value = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
    parsed.*setting->to = value;
  }
  return parsed;
}

Result<VipuConfig> parseVipuConfig(const std::string& text, const std::string& path) {
  VipuConfig config;
  int number = 0;
  for (const std::string& line : split(text, '\n'))
    POP_RETURN_IF_ERROR(readLine(line, path + ':' + std::to_string(++number), config));
  return config;
}

// A key is sent only to the server that it was made for, unless the command line names both.
Result<ServerSettings> vipuServerSettings(const VipuWords& words, CommonOptions common,
                                          const Surroundings& here) {
  const char* const variable = here.variable("VIPU_CLI_API_HOST");
  std::string host = words.host;
  if (host.empty() && variable != nullptr) host = variable;
  std::string port = words.port;
  VipuWords said = words;
  const bool is_popctls = !common.server.empty();  // its own option
  if (!is_popctls) {
    POP_ASSIGN_OR_RETURN(const VipuConfig config, readConfig(words, here));
    if (host.empty() || host == config.host) {
      if (port.empty()) port = config.port;
      if (said.user_id.empty()) said.user_id = config.user_id;
      if (said.access_key.empty() && !config.access_key.empty()) {
        POP_RETURN_IF_ERROR(checkKeyFile(words, here));
        said.access_key = config.access_key;
      }
    }
    if (host.empty()) host = config.host;
  }
  Surroundings without_files = here;
  without_files.file = [](const std::string& path) { return Status(Code::kNotFound, path); };
  const bool is_vipus = !is_popctls && !(host.empty() && port.empty());
  if (is_vipus) common.server = (host.empty() ? "localhost" : host) + (port.empty() ? "" : ':' + port);
  POP_ASSIGN_OR_RETURN(ServerSettings settings, serverSettings(common, is_vipus ? without_files : here));
  settings.api_user_id = said.user_id;
  settings.api_access_key = said.access_key;
  return settings;
}

}  // namespace pop::popctl
