// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/service_part.h"

#include <list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "common/agent_service/connect_errors.h"
#include "common/agent_service/service_call.h"
#include "common/log/log.h"
#include "common/tls/tls_context.h"
#include "common/tls/user_tls.h"

namespace pop {
namespace {

// Includes a new connection, whose first packet TCP repeats after 1 s and 3 s; the job's end waits for this.
constexpr std::chrono::milliseconds kEndJobTimeout{4000};

wire::v1::ServiceRequest toEnd(wire::v1::EndJobRequest job) {
  wire::v1::ServiceRequest request;
  *request.mutable_end_job() = std::move(job);
  return request;
}

wire::v1::ServiceRequest toDescribe() {
  wire::v1::ServiceRequest request;
  request.mutable_describe();
  return request;
}

// The result of a request that is answered by a description.
Result<wire::v1::HostDescription> descriptionIn(const Status& how, const std::string& answer) {
  POP_RETURN_IF_ERROR(how);
  wire::v1::HostDescription description;
  if (!description.ParseFromString(answer))
    return Status(Code::kDataLoss, "its answer is not a valid description");
  return description;
}

// Each request lives as long as the function of the line that sent it.
ServiceLine lineTo(os::EpollLoop& loop, const wire::ServiceAddress& address) {
  const auto asked = std::make_shared<std::list<wire::ServiceQuestion>>();
  return {.call =
              [&loop, address](wire::AgentCall::Events events) {
                return std::make_unique<wire::ServiceCall>(loop, address, std::move(events));
              },
          .end_job =
              [&loop, address, asked](wire::v1::EndJobRequest job, const std::function<void(Status)>& done) {
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

}  // namespace

Result<ServicePart> servicePart(const ServiceSettings& settings, std::size_t num_hosts) {
  std::shared_ptr<const tls::TlsContext> tls;
  if (settings.tls_files || !settings.tls.empty()) {
    tls::TlsFiles files = settings.tls_files.value_or(tls::TlsFiles());
    if (!settings.tls_files) {
      POP_ASSIGN_OR_RETURN(files, tls::loadUserTls("--agent-tls", settings.tls));
    }
    for (const std::string& warning : files.warnings) log::warning(warning);
    POP_ASSIGN_OR_RETURN(tls, tls::TlsContext::make(files, tls::TlsRole::kClient));
  }
  ServicePart service;
  service.hosts.resize(num_hosts);
  std::iota(service.hosts.begin(), service.hosts.end(), 0);
  service.dial = [tls, port = settings.port, timeout = settings.connect_timeout](os::EpollLoop& loop,
                                                                                 const std::string& host) {
    return lineTo(loop, {.host = host, .port = port, .tls = tls, .timeout = timeout});
  };
  service.explain = [port = settings.port, timeout = settings.connect_timeout](const std::string& host,
                                                                               const Status& why) {
    return wire::explainNoAnswer({host, port, timeout}, why);
  };
  return service;
}

}  // namespace pop
