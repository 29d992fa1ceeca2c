// SPDX-License-Identifier: Apache-2.0
#include "popctl/settings.h"

#include <utility>

#include "common/base/text.h"

namespace pop::popctl {
namespace {

constexpr const char* kPort = "8090";
constexpr const char* kSystemFile = "/etc/popdist/popctl.conf";

// Of one setting: its value, and what has named it.
struct Named {
  std::string value;
  std::string by;
};

// "h0" gets the usual port.
Result<std::string> addressOf(const Named& named) {
  const std::string& text = named.value;
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  const bool has_port = colon != std::string::npos && !bracketed;
  const std::string host = has_port ? text.substr(0, colon) : text;
  const Result<std::int64_t> port = parseInteger(has_port ? text.substr(colon + 1) : kPort);
  const bool plain = !host.empty() && host.find_first_of("[]:/ ") == std::string::npos;
  const bool address = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if ((!plain && !address) || !port.ok() || port.value() < 1 || port.value() > 65535)
    return invalidArgument(named.by + ": " + inQuotes(text) + " is not HOST:PORT, such as head:8090");
  return host + ':' + std::to_string(port.value());
}

Status readLine(const std::string& line, const std::string& where, Named& server, Named& tls) {
  const std::string text(trimmed(line));
  if (text.empty() || text.front() == '#') return {};
  const std::size_t equals = text.find('=');
  const std::string key(trimmed(text.substr(0, equals)));
  if (equals == std::string::npos || (key != "server" && key != "tls"))
    return invalidArgument(where + ": " + inQuotes(text) + " is neither server=HOST:PORT nor tls=DIR");
  Named& named = key == "server" ? server : tls;
  if (named.by.empty()) named = {std::string(trimmed(text.substr(equals + 1))), where};
  return {};
}

Status readFile(const std::string& path, const Surroundings& here, Named& server, Named& tls) {
  const Result<std::string> text = here.file(path);
  if (text.code() == Code::kNotFound) return {};
  if (!text.ok()) return text.status();
  int number = 0;
  for (const std::string& line : split(text.value(), '\n'))
    POP_RETURN_IF_ERROR(readLine(line, path + ':' + std::to_string(++number), server, tls));
  return {};
}

Named given(const std::string& option, const std::string& value, const char* variable,
            const Surroundings& here) {
  if (!value.empty()) return {value, option};
  const char* const set = here.variable(variable);
  return set != nullptr && *set != '\0' ? Named{set, variable} : Named{};
}

}  // namespace

std::vector<std::string> configFiles(const Surroundings& here) {
  std::vector<std::string> files;
  const char* const config = here.variable("XDG_CONFIG_HOME");
  const char* const home = here.variable("HOME");
  if (config != nullptr && *config == '/') {
    files.push_back(std::string(config) + "/popdist/popctl.conf");
  } else if (home != nullptr && *home == '/') {
    files.push_back(std::string(home) + "/.config/popdist/popctl.conf");
  }
  files.emplace_back(kSystemFile);
  return files;
}

Result<ServerSettings> serverSettings(const CommonOptions& options, const Surroundings& here) {
  Named server = given("--server", options.server, "POPDIST_SERVER", here);
  Named tls = given("--tls", options.tls, "POPDIST_TLS", here);
  for (const std::string& file : configFiles(here)) {
    if (!server.by.empty() && !tls.by.empty()) break;
    POP_RETURN_IF_ERROR(readFile(file, here, server, tls));
  }
  ServerSettings settings;
  if (!server.by.empty()) {
    POP_ASSIGN_OR_RETURN(settings.address, addressOf(server));
  }
  if (!tls.value.empty()) {
    settings.tls = tls.value;
    settings.tls_option = tls.by;
  }
  return settings;
}

}  // namespace pop::popctl
