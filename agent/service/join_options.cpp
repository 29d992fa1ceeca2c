// SPDX-License-Identifier: Apache-2.0
#include "agent/service/join_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "agent/cluster/host_inventory.h"
#include "agent/tls/command_options.h"
#include "common/base/text.h"
#include "common/log/log.h"
#include "common/os/place.h"
#include "common/sys/host_name.h"
#include "common/sys/own_program.h"
#include "common/tls/certificates.h"
#include "common/tls/host_tls.h"

namespace pop::agent {
namespace {

// The process that speaks HTTP/2 with other hosts has none of root's powers, and the host's key, so that no
// other process should be of its user.
constexpr const char* kOwnUser = "popdist-join";
constexpr const char* kPowerless = "nobody";

std::string userOfRelay() {
  if (lookUpUser(std::string(kOwnUser)).ok()) return kOwnUser;
  log::warning(
      "there is no system user popdist-join, so popdist-join runs as nobody, and other processes of nobody "
      "can "
      "end it: useradd --system popdist-join");
  return kPowerless;
}

Result<v1::RelayConnect> connectTo(const std::string& controller, const std::string& tls_directory) {
  v1::RelayConnect connect;
  connect.set_controller(controller);
  if (tls_directory.empty()) return connect;
  POP_ASSIGN_OR_RETURN(tls::TlsFiles files, tls::loadHostTlsForJoining(tls_directory));
  connect.set_authority_pem(std::move(files.authority_pem));
  connect.set_certificate_pem(std::move(files.certificate_pem));
  connect.set_key_pem(std::move(files.key_pem));
  return connect;
}

}  // namespace

std::string ownNameIn(const JoinOptions& options) {
  return options.name.empty() ? sys::hostName() : options.name;
}

void addJoinOptions(CLI::App& app, JoinOptions& options) {
  app.add_option("--controller", options.controller,
                 "join the cluster of the popdistd there; several have one store")
      ->type_name("HOST:PORT[,...]");
  app.add_option("--name", options.name,
                 "name of this host in the cluster, as in its certificate (default: uname -n)")
      ->type_name("NAME");
  app.add_option("--slots", options.slots, "number of instances that fit on this host (default: its cores)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--state", options.state,
                 "directory for the cluster's jobs (default: /var/lib/popdist, if not root "
                 "~/.local/state/popdist)")
      ->type_name("DIR");
  app.add_option("--runner-program", options.runner)->group("");  // for tests
}

Status checkJoinOptions(const JoinOptions& options, bool has_tls) {
  if (options.controller.empty()) {
    if (options.name.empty() && options.slots == 0 && options.state.empty()) return {};
    return invalidArgument("--name, --slots and --state need --controller HOST:PORT, the cluster to join");
  }
  if (Status valid = tls::checkHostName(ownNameIn(options)); !valid.ok())
    return invalidArgument("--name: " + valid.message());
  for (const std::string& controller : split(options.controller, ',')) {
    POP_ASSIGN_OR_RETURN(const os::Place place, os::parsePlace("--controller", controller));
    POP_RETURN_IF_ERROR(checkJoining(place.address, has_tls));
  }
  return {};
}

Result<JoinSettings> joinSettings(const JoinOptions& options, const std::string& tls_directory,
                                  const UnixUser& self, int agent_port) {
  JoinSettings settings;
  POP_ASSIGN_OR_RETURN(settings.inventory, takeInventory(ownNameIn(options), options.slots, agent_port));
  settings.state = options.state.empty() ? defaultState(self) : options.state;
  settings.runner = options.runner.empty() ? sys::ownProgram("popdist-runner") : options.runner;
  settings.link = {.controllers = split(options.controller, ','),
                   .user = self.uid == 0 ? userOfRelay() : self.name,
                   .agent = sys::ownProgram("popdist-agent"),
                   .program = sys::ownProgram("popdist-join"),
                   .connect = [tls_directory](const std::string& controller) {
                     return connectTo(controller, tls_directory);
                   }};
  return settings;
}

}  // namespace pop::agent
