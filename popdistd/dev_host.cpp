// SPDX-License-Identifier: Apache-2.0
#include "popdistd/dev_host.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "agent/tls/init_tls.h"
#include "common/base/text.h"
#include "common/log/log.h"
#include "common/sys/fd.h"
#include "common/sys/host_name.h"
#include "common/sys/own_program.h"
#include "common/sys/whole_file.h"

namespace pop::popdistd {
namespace {

// The agent service looks for its certificate under its host's name.
std::string namesOfThisHost() {
  const std::string own = sys::hostName();
  return own + "+localhost+127.0.0.1";
}

}  // namespace

Result<DevHost> DevHost::prepare(const std::string& directory, const std::string& user) {
  DevHost host(directory, user);
  const agent::InitTlsResult made = agent::initTls(
      {.directory = host.tlsDirectory(), .hosts = {namesOfThisHost()}, .users = {user}, .issuer = true});
  if (!made.mistakes.empty()) return failedPrecondition(join(made.mistakes, "; "));
  if (::access((directory + "/users").c_str(), F_OK) != 0)
    POP_RETURN_IF_ERROR(sys::replaceFile(directory, "users", user + " = " + user + '\n'));
  return host;
}

void DevHost::start(int port) {
  const std::string controller = "localhost:" + std::to_string(port);
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Result<os::HelperProgram> started = os::HelperProgram::start(
      {sys::ownProgram("popdist-agent"), "serve", "--listen", "127.0.0.1:0", "--tls", tlsDirectory(),
       "--users", directory_ + "/users", "--controller", controller, "--state", directory_ + "/agent"},
      {null.get(), null.get(), STDERR_FILENO}, os::Leads::kSession, os::AfterUs::kDies);
  if (!started.ok()) return log::warning("cannot start the agent service: " + started.status().message());
  service_ = std::move(*started);
  std::printf(
      "popdistd serves for %s. In another terminal:\n\n"
      "    export POPDIST_SERVER=%s POPDIST_TLS=%s\n"
      "    popctl submit job --attach -- echo hello\n"
      "    popctl list jobs\n\n",
      user_.c_str(), controller.c_str(), tlsDirectory().c_str());
  std::fflush(stdout);
}

}  // namespace pop::popdistd
