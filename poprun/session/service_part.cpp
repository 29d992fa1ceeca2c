// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/service_part.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/rpc/connect_errors.h"
#include "common/rpc/describe_call.h"
#include "common/rpc/grpc_agent_call.h"
#include "common/rpc/tls_channel.h"

namespace pop {
namespace {

// With a connection of its own to make; the job's end waits for it.
constexpr std::chrono::milliseconds kEndJobPatience{2000};

// "user-alice" for each user-alice.pem.
Result<std::vector<std::string>> pairsIn(const std::string& directory) {
  std::vector<std::string> pairs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("user-") && name.ends_with(".pem") && !name.ends_with("-key.pem"))
      pairs.push_back(name.substr(0, name.size() - 4));
  }
  if (error) return errnoStatus("--agent-tls " + directory, error.value());
  return pairs;
}

// The user's own pair, else the only one there is.
Result<std::string> ownPair(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(std::vector<std::string> pairs, pairsIn(directory));
  const char* const user = std::getenv("USER");
  std::string own = "user-" + std::string(user == nullptr ? "" : user);
  if (std::find(pairs.begin(), pairs.end(), own) != pairs.end()) return own;
  if (pairs.size() == 1) return std::move(pairs.front());
  return failedPrecondition("--agent-tls " + directory + ": there is no " + own + ".pem in it, and " +
                            counted(static_cast<std::int64_t>(pairs.size()), "pair") + " of others");
}

Result<rpc::TlsFiles> userTls(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(const std::string pair, ownPair(directory));
  const std::string base = directory + '/' + pair;
  return rpc::loadTls({directory + "/ca.pem", base + ".pem", base + "-key.pem"}, rpc::TlsRole::kClient,
                      std::time(nullptr));
}

}  // namespace

Result<ServicePart> servicePart(const HostsOptions& options, std::size_t num_hosts) {
  std::optional<rpc::TlsFiles> tls;
  if (!options.agent_tls.empty()) {
    POP_ASSIGN_OR_RETURN(tls, userTls(options.agent_tls));
    for (const std::string& warning : tls->warnings) log::warning(warning);
  }
  ServicePart service;
  service.hosts.resize(num_hosts);
  std::iota(service.hosts.begin(), service.hosts.end(), 0);
  // gRPC tries for longer than the link waits, which has the better words.
  service.dial = [tls, port = options.agent_port, patience = options.connect_timeout](
                     Loop& loop, const std::string& host) {
    const std::shared_ptr<grpc::Channel> channel = rpc::channelTo(host, port, tls, 2 * patience);
    return ServiceLine{
        .call =
            [&loop, channel](rpc::AgentCall::Events events) {
              return std::make_unique<rpc::GrpcAgentCall>(loop, channel, std::move(events));
            },
        .end_job =
            [&loop, channel](rpc::v1::EndJobRequest request, std::function<void(Status)> done) {
              rpc::endJob(loop, channel, std::move(request), kEndJobPatience, std::move(done));
            },
        .describe =
            [&loop, channel](std::chrono::milliseconds wanted, ServiceLine::Described done) {
              rpc::describeService(loop, channel, wanted, std::move(done));
            }};
  };
  service.explain = [has_tls = tls.has_value(), port = options.agent_port,
                     patience = options.connect_timeout](const std::string& host, const Status& why) {
    return rpc::explainNoAnswer({host, port, has_tls, patience}, why);
  };
  return service;
}

}  // namespace pop
