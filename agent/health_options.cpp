// SPDX-License-Identifier: Apache-2.0
#include "agent/health_options.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "agent/command_options.h"
#include "common/os/epoll_loop.h"
#include "common/rpc/connect_errors.h"
#include "common/rpc/service_call.h"
#include "common/rpc/user_tls.h"
#include "common/sys/process_setup.h"

namespace pop::agent {
namespace {

struct HealthOptions {
  std::string address = "127.0.0.1:7571";
  std::string tls_directory;
  int timeout_s = 10;
};

Status askHealth(const HealthOptions& options) {
  POP_ASSIGN_OR_RETURN(const Place place, parsePlace("--address", options.address));
  std::shared_ptr<const rpc::TlsContext> tls;
  if (!options.tls_directory.empty()) {
    POP_ASSIGN_OR_RETURN(const rpc::TlsFiles files, rpc::loadUserTls("--tls", options.tls_directory));
    POP_ASSIGN_OR_RETURN(tls, rpc::TlsContext::make(files, rpc::TlsRole::kClient));
  }
  const std::chrono::seconds timeout{options.timeout_s};
  rpc::v1::ServiceRequest request;
  request.mutable_check_health();
  os::EpollLoop loop;
  Status outcome;
  const rpc::ServiceQuestion question(loop, {place.address, place.port, tls, timeout}, request, timeout,
                                      [&](const Status& how, const std::string&) {
                                        outcome = how;
                                        loop.stop();
                                      });
  loop.run();
  return outcome.ok() ? outcome : rpc::explainNoAnswer({place.address, place.port, timeout}, outcome);
}

}  // namespace

int runHealth(const std::vector<std::string>& arguments) {
  HealthOptions options;
  CLI::App app("Asks an agent service whether it takes jobs.", "popdist-agent health");
  app.add_option("--address", options.address, "where it listens")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--tls", options.tls_directory, "directory with ca.pem and a user's pair, by init-tls")
      ->type_name("DIR");
  app.add_option("--connect-timeout", options.timeout_s, "how long to wait for the answer")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  if (const std::optional<int> done = parseCommand(app, arguments)) return *done;
  Status outcome = sys::setUpForJobs();
  if (outcome.ok()) outcome = askHealth(options);
  if (!outcome.ok()) std::fprintf(stderr, "popdist-agent health: %s\n", outcome.message().c_str());
  return outcome.ok() ? 0 : 1;
}

}  // namespace pop::agent
