// SPDX-License-Identifier: Apache-2.0
#include "agent/service/health_options.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "agent/tls/command_options.h"
#include "common/agent_service/connect_errors.h"
#include "common/agent_service/service_call.h"
#include "common/os/epoll_loop.h"
#include "common/os/place.h"
#include "common/sys/process_setup.h"
#include "common/tls/user_tls.h"

namespace pop::agent {
namespace {

struct HealthOptions {
  std::string address = "127.0.0.1:7571";
  std::string tls_directory;
  int timeout_s = 10;
};

Status askHealth(const HealthOptions& options) {
  POP_ASSIGN_OR_RETURN(const os::Place place, os::parsePlace("--address", options.address));
  std::shared_ptr<const tls::TlsContext> tls;
  if (!options.tls_directory.empty()) {
    POP_ASSIGN_OR_RETURN(const tls::TlsFiles files, tls::loadUserTls("--tls", options.tls_directory));
    POP_ASSIGN_OR_RETURN(tls, tls::TlsContext::make(files, tls::TlsRole::kClient));
  }
  const std::chrono::seconds timeout{options.timeout_s};
  wire::v1::ServiceRequest request;
  request.mutable_check_health();
  os::EpollLoop loop;
  Status outcome;
  const wire::ServiceQuestion question(loop, {place.address, place.port, tls, timeout}, request, timeout,
                                       [&](const Status& how, const std::string&) {
                                         outcome = how;
                                         loop.stop();
                                       });
  loop.run();
  return outcome.ok() ? outcome : wire::explainNoAnswer({place.address, place.port, timeout}, outcome);
}

// poprun's message for the same failures names its own option.
std::string withOwnOption(std::string text) {
  constexpr std::string_view kPopruns = "--agent-tls";
  const std::size_t at = text.find(kPopruns);
  return at == std::string::npos ? text : text.replace(at, kPopruns.size(), "--tls");
}

}  // namespace

int runHealth(const std::vector<std::string>& arguments) {
  HealthOptions options;
  CLI::App app("Checks whether an agent service accepts jobs.", "popdist-agent health");
  app.add_option("--address", options.address, "the service's address and port")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--tls", options.tls_directory,
                 "directory with ca.pem and a user's certificate and key, made by init-tls")
      ->type_name("DIR");
  app.add_option("--connect-timeout", options.timeout_s, "time limit for the answer")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  if (const std::optional<int> done = parseCommand(app, arguments)) return *done;
  Status outcome = sys::setUpForJobs();
  if (outcome.ok()) outcome = askHealth(options);
  if (!outcome.ok())
    std::fprintf(stderr, "popdist-agent health: %s\n", withOwnOption(outcome.message()).c_str());
  return outcome.ok() ? 0 : 1;
}

}  // namespace pop::agent
