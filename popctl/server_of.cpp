// SPDX-License-Identifier: Apache-2.0
#include "popctl/server_of.h"

#include <cstdio>
#include <cstdlib>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "common/sys/unix_socket.h"
#include "common/tls/user_tls.h"
#include "popctl/pods/vipu_key_file.h"
#include "popctl/token_file.h"

namespace pop::popctl {
namespace {

constexpr double kTimeoutSeconds = 30;

// A client certificate is not needed when a token is used.
Result<tls::TlsFiles> authorityOf(const ServerSettings& settings) {
  Result<std::string> authority = sys::readFile(settings.tls + "/ca.pem");
  if (authority.ok()) return tls::tlsFilesOf(std::move(*authority), "", "");
  return Status(authority.code(),
                settings.tls_option + ' ' + settings.tls + ": " + authority.status().message());
}

}  // namespace

Result<Server> serverOf(const Command& command, const ServerSettings& settings) {
  Server server{.address = settings.address,
                .tls = std::nullopt,
                .program = settings.program,
                .reconnect = std::chrono::seconds(command.common.reconnect_s)};
  server.api_user_id = settings.api_user_id;
  server.api_access_key = settings.api_access_key;
  if (!settings.token_file.empty()) {
    POP_RETURN_IF_ERROR(checkSendsToken(settings.address, !settings.tls.empty()));
    POP_ASSIGN_OR_RETURN(server.token, readTokenFile(settings.token_option, settings.token_file));
  }
  if (settings.tls.empty()) return server;
  const bool has_secret = !server.token.empty() || !server.api_access_key.empty();
  Result<tls::TlsFiles> files =
      has_secret ? authorityOf(settings) : tls::loadUserTls(settings.tls_option, settings.tls);
  if (!files.ok()) return files.status();
  server.tls = std::move(*files);
  for (const std::string& warning : server.tls->warnings)
    std::fprintf(stderr, "%s: warning: %s\n", server.program.c_str(), printable(warning).c_str());
  return server;
}

std::chrono::milliseconds timeoutOf(const Command& command) {
  const double timeout_s = command.common.timeout_s.value_or(kTimeoutSeconds);
  return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
}

Surroundings ownSurroundings() {
  return {.variable = [](const char* name) { return std::getenv(name); },
          .file = [](const std::string& path) { return sys::readFile(path); },
          .listens = [](const std::string& path) { return sys::connectPath(path).ok(); },
          .check_private = checkKeyIsPrivate};
}

}  // namespace pop::popctl
