// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/agent_server.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "common/base/text.h"

namespace pop::wire {
namespace {

// Delay before accepting again when the process has run out of descriptors.
constexpr std::chrono::milliseconds kPause{100};

constexpr std::chrono::milliseconds kFlushTimeout{1000};

// Limit on the log text of an unauthenticated client, for the reason it gave for ending the connection.
constexpr std::size_t kMaxLogBytes = 200;

std::string forLog(const Status& why) {
  return printable(std::string_view(why.message()).substr(0, kMaxLogBytes));
}

}  // namespace

AgentServer::AgentServer(os::EpollLoop& loop, Handlers handlers, ServerLimits limits)
    : loop_(loop),
      handlers_(std::move(handlers)),
      limits_(limits),
      turned_away_(loop, handlers_.note, "connections were turned away") {}

AgentServer::~AgentServer() {
  if (listener_.socket.valid()) loop_.unwatch(listener_.socket.get());
  if (pause_) loop_.cancel(*pause_);
  const Clock::time_point deadline = Clock::now() + kFlushTimeout;
  for (const std::shared_ptr<ServedConnection>& connection : connections_)
    connection->flush(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
  gone_->clear();  // before the loop ends, which they still need
}

Result<int> AgentServer::listenAt(const std::string& address, int port,
                                  std::shared_ptr<const tls::TlsContext> tls) {
  POP_ASSIGN_OR_RETURN(listener_, os::listenAt(address, port));
  tls_ = std::move(tls);
  loop_.watchReadable(listener_.socket.get(), [this] { welcome(); });
  return listener_.port;
}

// Accept one connection per event: existing connections are served in between.
void AgentServer::welcome() {
  os::AcceptedConnection pending = os::acceptConnection(listener_.socket.get());
  if (pending.error_number != 0) return pause(pending.error_number);
  if (!pending.socket.valid()) return;
  short_of_means_ = false;
  open(std::move(pending));
}

void AgentServer::pause(int error_number) {
  if (!std::exchange(short_of_means_, true))
    handlers_.note("cannot accept connections for now: " + std::string(std::strerror(error_number)) +
                   " (see `ulimit -n`, or LimitNOFILE= of its unit)");
  loop_.unwatch(listener_.socket.get());
  pause_ = loop_.postAfter(kPause, [this] {
    pause_.reset();
    loop_.watchReadable(listener_.socket.get(), [this] { welcome(); });
  });
}

void AgentServer::open(os::AcceptedConnection pending) {
  const auto at = connections_.emplace(connections_.end());
  *at = std::make_shared<ServedConnection>(
      loop_, std::move(pending.socket), pending.address, tls_ ? tls_->accepted() : nullptr,
      limits_.connection,
      ServedConnection::Events{
          .request = [this, at](const v1::ServiceRequest& request) { serve(*at, request); },
          .over = [this, at](const Status& why) { over(at, why); }});
  limitUnauthenticated();
}

void AgentServer::limitUnauthenticated() {
  std::size_t unauthenticated = 0;
  std::map<std::string, int> unauthenticated_from;
  for (const std::shared_ptr<ServedConnection>& each : connections_) {
    if (each->isTrusted()) continue;
    ++unauthenticated;
    ++unauthenticated_from[each->peerAddress()];
  }
  if (unauthenticated <= limits_.max_unauthenticated) return;
  const auto crowd = std::max_element(unauthenticated_from.begin(), unauthenticated_from.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto oldest = std::find_if(connections_.begin(), connections_.end(), [&](const auto& each) {
    return !each->isTrusted() && unauthenticated_from[each->peerAddress()] == crowd->second;
  });
  (*oldest)->drop({Code::kResourceExhausted, "too many unauthenticated connections at once"});
}

void AgentServer::serve(const std::shared_ptr<ServedConnection>& connection,
                        const v1::ServiceRequest& request) {
  switch (request.body_case()) {
    case v1::ServiceRequest::kRun:
      return handlers_.run(connection);
    case v1::ServiceRequest::kEndJob:
      return finish(*connection, handlers_.end_job(connection->peer(), request.end_job()));
    case v1::ServiceRequest::kDescribe: {
      const Result<v1::HostDescription> description = handlers_.describe(connection->peer());
      if (description.ok()) connection->answer(description.value());
      return finish(*connection, description.status());
    }
    case v1::ServiceRequest::kCheckHealth:
      return connection->finish(stopping_ ? unavailable("the agent service is being stopped") : Status());
    case v1::ServiceRequest::BODY_NOT_SET:
      break;
  }
  connection->finish({Code::kUnimplemented, "this popdist-agent does not know this kind of request"});
}

// Refused jobs are logged by the code that serves jobs.
void AgentServer::finish(ServedConnection& connection, const Status& answer) {
  if (answer.code() == Code::kPermissionDenied) note(connection, answer);
  connection.finish(answer);
}

void AgentServer::note(const ServedConnection& connection, const Status& why) {
  const std::string line = "a connection from " + connection.peerAddress() + ": " + forLog(why);
  connection.isTrusted() ? handlers_.note(line) : turned_away_.add(line);
}

// From the loop: this is a call from inside the connection.
void AgentServer::over(Connections::iterator connection, const Status& why) {
  const bool is_lost_job = (*connection)->isTrusted() && why.code() == Code::kUnavailable;
  if (!why.ok() && !is_lost_job) note(**connection, why);
  gone_->splice(gone_->end(), connections_, connection);
  loop_.post([gone = gone_] { gone->clear(); });
}

}  // namespace pop::wire
