// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/service_part.h"

#include <ctime>
#include <list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "common/log/log.h"
#include "common/rpc/connect_errors.h"
#include "common/rpc/service_call.h"
#include "common/rpc/tls_context.h"
#include "common/rpc/user_tls.h"

namespace pop {
namespace {

// With a connection of its own to make, whose first packet TCP repeats after 1 s and 3 s; the job's end waits
// for it.
constexpr std::chrono::milliseconds kEndJobTimeout{4000};

rpc::v1::ServiceRequest toEnd(rpc::v1::EndJobRequest job) {
  rpc::v1::ServiceRequest request;
  *request.mutable_end_job() = std::move(job);
  return request;
}

rpc::v1::ServiceRequest toDescribe() {
  rpc::v1::ServiceRequest request;
  request.mutable_describe();
  return request;
}

// How a question ended that a description answers.
Result<rpc::v1::HostDescription> descriptionIn(const Status& how, const std::string& answer) {
  POP_RETURN_IF_ERROR(how);
  rpc::v1::HostDescription description;
  if (!description.ParseFromString(answer))
    return Status(Code::kDataLoss, "what it answers is no description");
  return description;
}

// Each question lives as long as the line's function that has asked it.
ServiceLine lineTo(os::EpollLoop& loop, const rpc::ServiceAddress& address) {
  const auto asked = std::make_shared<std::list<rpc::ServiceQuestion>>();
  return {.call =
              [&loop, address](rpc::AgentCall::Events events) {
                return std::make_unique<rpc::ServiceCall>(loop, address, std::move(events));
              },
          .end_job =
              [&loop, address, asked](rpc::v1::EndJobRequest job, const std::function<void(Status)>& done) {
                asked->emplace_back(loop, address, toEnd(std::move(job)), kEndJobTimeout,
                                    [done](const Status& how, const std::string&) { done(how); });
              },
          .describe =
              [&loop, address, asked](std::chrono::milliseconds timeout, const ServiceLine::Described& done) {
                asked->emplace_back(loop, address, toDescribe(), timeout,
                                    [done](const Status& how, const std::string& answer) {
                                      done(descriptionIn(how, answer));
                                    });
              }};
}

std::shared_ptr<rpc::SessionCache> sessionsOf(const rpc::TlsFiles& files) {
  return std::make_shared<rpc::SessionCache>(rpc::keptSessionsPath(), files,
                                             [] { return std::time(nullptr); });
}

}  // namespace

Result<ServicePart> servicePart(const HostsOptions& options, std::size_t num_hosts) {
  std::shared_ptr<const rpc::TlsContext> tls;
  if (!options.agent_tls.empty()) {
    POP_ASSIGN_OR_RETURN(const rpc::TlsFiles files, rpc::loadUserTls("--agent-tls", options.agent_tls));
    for (const std::string& warning : files.warnings) log::warning(warning);
    POP_ASSIGN_OR_RETURN(tls,
                         rpc::TlsContext::make(files, rpc::TlsRole::kClient, {.kept = sessionsOf(files)}));
  }
  ServicePart service;
  service.hosts.resize(num_hosts);
  std::iota(service.hosts.begin(), service.hosts.end(), 0);
  service.dial = [tls, port = options.agent_port, timeout = options.connect_timeout](
                     os::EpollLoop& loop, const std::string& host) {
    return lineTo(loop, {.host = host, .port = port, .tls = tls, .timeout = timeout});
  };
  service.explain = [port = options.agent_port, timeout = options.connect_timeout](const std::string& host,
                                                                                   const Status& why) {
    return rpc::explainNoAnswer({host, port, timeout}, why);
  };
  return service;
}

}  // namespace pop
