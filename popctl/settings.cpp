// SPDX-License-Identifier: Apache-2.0
#include "popctl/settings.h"

#include <utility>
#include <vector>

#include "common/base/text.h"

namespace pop::popctl {
namespace {

constexpr const char* kPort = "8090";
constexpr const char* kSystemFile = "/etc/popdist/popctl.conf";

// One setting: its value, and the source that has named it.
struct Named {
  std::string value;
  std::string by;
};

// "h0" gets the usual port.
Result<std::string> addressOf(const std::string& text, const std::string& by) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  const bool has_port = colon != std::string::npos && !bracketed;
  const std::string host = has_port ? text.substr(0, colon) : text;
  const Result<std::int64_t> port = parseInteger(has_port ? text.substr(colon + 1) : kPort);
  const bool plain = !host.empty() && host.find_first_of("[]:/ ") == std::string::npos;
  const bool address = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if ((!plain && !address) || !port.ok() || port.value() < 1 || port.value() > 65535)
    return invalidArgument(by + ": " + inQuotes(text) + " is not HOST:PORT, such as head:8090");
  return host + ':' + std::to_string(port.value());
}

// "h0,h1": popdistds with one store.
Result<std::string> addressesOf(const Named& named) {
  std::vector<std::string> addresses;
  for (const std::string& text : split(named.value, ',')) {
    POP_ASSIGN_OR_RETURN(std::string address, addressOf(text, named.by));
    addresses.push_back(std::move(address));
  }
  return join(addresses, ",");
}

struct Found {
  Named server;
  Named tls;
  Named token;

  Named* of(const std::string& key) {
    return key == "server" ? &server : key == "tls" ? &tls : key == "token-file" ? &token : nullptr;
  }
};

Status readLine(const std::string& line, const std::string& where, Found& found) {
  const std::string text(trimmed(line));
  if (text.empty() || text.front() == '#') return {};
  const std::size_t equals = text.find('=');
  Named* const named = found.of(std::string(trimmed(text.substr(0, equals))));
  if (equals == std::string::npos || named == nullptr)
    return invalidArgument(where + ": " + inQuotes(text) +
                           " is none of server=HOST:PORT, tls=DIR and token-file=FILE");
  if (named->by.empty()) *named = {std::string(trimmed(text.substr(equals + 1))), where};
  return {};
}

Status readFile(const std::string& path, const Surroundings& here, Found& found) {
  const Result<std::string> text = here.file(path);
  if (text.code() == Code::kNotFound) return {};
  if (!text.ok()) return text.status();
  int number = 0;
  for (const std::string& line : split(text.value(), '\n'))
    POP_RETURN_IF_ERROR(readLine(line, path + ':' + std::to_string(++number), found));
  return {};
}

Named given(const std::string& option, const std::string& value, const char* variable,
            const Surroundings& here) {
  if (!value.empty()) return {value, option};
  const char* const set = here.variable(variable);
  return set != nullptr && *set != '\0' ? Named{set, variable} : Named{};
}

std::string localSocket(const Surroundings& here) {
  for (const std::string& path : localSockets(here)) {
    if (here.listens && here.listens(path)) return "unix:" + path;
  }
  return {};
}

Result<std::string> serverAddress(const Found& found, const Surroundings& here) {
  const std::string& text = found.server.value;
  if (text.starts_with("unix:/")) return text;
  const bool is_local = text == "local";
  if (!is_local && !found.server.by.empty()) return addressesOf(found.server);
  std::string local = is_local || found.tls.value.empty() ? localSocket(here) : "";
  if (!local.empty()) return local;
  if (!is_local) return ServerSettings().address;
  return unavailable(found.server.by + ": no popdistd listens on this machine, at " +
                     join(localSockets(here), " or "));
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

std::vector<std::string> localSockets(const Surroundings& here) {
  std::vector<std::string> sockets{"/run/popdistd/popdistd.sock"};
  const char* const state = here.variable("XDG_STATE_HOME");
  const char* const home = here.variable("HOME");
  std::string directory;
  if (state != nullptr && *state == '/')
    directory = state;
  else if (home != nullptr && *home == '/')
    directory = std::string(home) + "/.local/state";
  for (const std::string& above : {directory, std::string("/var/lib")}) {
    if (above.empty()) continue;
    sockets.push_back(above + "/popdistd/popdistd.sock");
    sockets.push_back(above + "/popdistd-dev/popdistd.sock");
  }
  return sockets;
}

Result<ServerSettings> serverSettings(const CommonOptions& options, const Surroundings& here) {
  Found found{given(options.server_option, options.server, "POPDIST_SERVER", here),
              given(options.tls_option, options.tls, "POPDIST_TLS", here),
              given("--token-file", options.token_file, "POPCTL_TOKEN_FILE", here)};
  for (const std::string& file : configFiles(here)) {
    if (!found.server.by.empty() && !found.tls.by.empty() && !found.token.by.empty()) break;
    POP_RETURN_IF_ERROR(readFile(file, here, found));
  }
  ServerSettings settings;
  POP_ASSIGN_OR_RETURN(settings.address, serverAddress(found, here));
  const bool is_local = settings.address.starts_with("unix:");
  if (!found.tls.value.empty() && !is_local) {
    settings.tls = found.tls.value;
    settings.tls_option = found.tls.by;
  }
  if (!found.token.value.empty()) {
    settings.token_file = found.token.value;
    settings.token_option = found.token.by;
  }
  return settings;
}

}  // namespace pop::popctl
