// SPDX-License-Identifier: Apache-2.0
#include "agent/tls/tls_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "agent/tls/command_options.h"
#include "agent/tls/init_tls.h"

namespace pop::agent {
namespace {

constexpr const char* kEpilogue =
    "Copy a host's files to that host, a user's files to that user, and ca.pem to all of them. Keep\n"
    "ca-key.pem here: anybody who has it can make certificates for anybody.\n";

int report(const InitTlsResult& result) {
  for (const std::string& mistake : result.mistakes) {
    std::fprintf(stderr, "popdist-agent init-tls: %s\n", mistake.c_str());
  }
  for (const std::string& path : result.kept) std::printf("%s (kept)\n", path.c_str());
  for (const std::string& path : result.written) std::printf("%s\n", path.c_str());
  return result.mistakes.empty() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int runInitTls(const std::vector<std::string>& arguments) {
  InitTlsRequest request;
  CLI::App app("Makes the certificates of the agent service.", "popdist-agent init-tls");
  app.footer(kEpilogue);
  app.add_option("--dir", request.directory, "directory for the certificates; created if missing")
      ->type_name("DIR")
      ->required();
  app.add_option(
         "--host", request.hosts,
         "hosts, written as for poprun --host: 'h[0-3]' (quoted, for the shell); a+b+c are the names of "
         "one host; may be repeated")
      ->type_name("HOSTS")
      ->allow_extra_args(false);
  app.add_option("--user", request.users, "users, separated by commas; may be repeated")
      ->type_name("USERS")
      ->allow_extra_args(false);
  app.add_flag("--issuer", request.issuer,
               "also an authority for popdistd, which signs certificates of jobs, for a day each");
  app.add_option(
         "--etcd", request.etcd,
         "machines of etcd and popdistd, written as for --host: certificates of an authority for these "
         "alone, in a --dir of its own")
      ->type_name("HOSTS")
      ->allow_extra_args(false);
  app.add_option("--days", request.valid_days, "days for which certificates are valid")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--ca-days", request.authority_valid_days, "days for which a new authority is valid")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--overwrite", request.overwrite,
               "make those of the named hosts and users anew, where they are there; never the authority");
  if (const std::optional<int> done = parseCommand(app, arguments)) return *done;
  return report(initTls(request));
}

}  // namespace pop::agent
