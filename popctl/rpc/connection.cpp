// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/connection.h"

#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/os/name_lookup.h"
#include "common/os/place.h"
#include "popctl/rpc/unreached.h"

namespace pop::popctl {
namespace {

constexpr int kMostMessageBytes = 128 << 20;
constexpr int kLookUpMs = 5'000;
constexpr int kKeepaliveMs = 15'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

grpc::ChannelArguments arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // http_proxy is for other things
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // which is the time limit of connecting, too
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> credentials(const std::optional<tls::TlsFiles>& files) {
  if (!files) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({files->authority_pem, files->key_pem, files->certificate_pem});
}

// The addresses of HOST:PORT, with the port; none: it has none.
std::vector<std::string> lookUp(const std::string& text) {
  const Result<os::Place> place = os::parsePlace("--server", text);
  if (!place.ok()) return {};
  const os::NameLookup lookup(place.value().address, place.value().port);
  if (lookup.event() >= 0) {
    pollfd ready{.fd = lookup.event(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, kLookUpMs);
  }
  const Result<std::vector<os::Address>> addresses = lookup.addresses();
  std::vector<std::string> all;
  if (!addresses.ok()) return all;
  for (const os::Address& each : addresses.value()) {
    const std::string numeric = os::numeric(each);
    all.push_back((numeric.find(':') == std::string::npos ? numeric : '[' + numeric + ']') + ':' +
                  std::to_string(place.value().port));
  }
  return all;
}

// "127.0.0.1:80" as IPv6 writes it: "[::ffff:127.0.0.1]:80".
std::string mappedToIpv6(const std::string& numeric) {
  if (numeric.front() == '[') return numeric;
  const std::size_t colon = numeric.rfind(':');
  return "[::ffff:" + numeric.substr(0, colon) + ']' + numeric.substr(colon);
}

// gRPC takes one name, or several numeric addresses of one kind, which it tries in their order.
std::string targetOf(const std::string& address) {
  if (address.starts_with("unix:")) return address;
  const std::vector<std::string> places = split(address, ',');
  if (places.size() == 1) return "dns:///" + address;
  std::vector<std::string> found;
  for (const std::string& place : places) {
    for (std::string& numeric : lookUp(place)) found.push_back(std::move(numeric));
  }
  if (found.empty()) return "dns:///" + places.front();  // gRPC says what is wrong with it
  const auto isIpv4 = [](const std::string& numeric) { return numeric.front() != '['; };
  if (std::all_of(found.begin(), found.end(), isIpv4)) return "ipv4:" + join(found, ",");
  for (std::string& numeric : found) numeric = mappedToIpv6(numeric);
  return "ipv6:" + join(found, ",");
}

grpc::ChannelArguments argumentsFor(const Server& server) {
  grpc::ChannelArguments all = arguments();
  const std::size_t comma = server.address.find(',');
  if (comma == std::string::npos) return all;
  const Result<os::Place> first = os::parsePlace("--server", server.address.substr(0, comma));
  // Whichever answers may be passing on to the one that leads: its certificate names all of them.
  if (first.ok()) all.SetSslTargetNameOverride(first.value().address);
  return all;
}

// Says in each call who asks, besides a certificate.
class SaysWho final : public grpc::experimental::Interceptor {
 public:
  explicit SaysWho(const Server& server) : server_(server) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      auto& metadata = *methods->GetSendInitialMetadata();
      if (!server_.token.empty()) metadata.emplace("authorization", "Bearer " + server_.token);
      if (!server_.api_user_id.empty()) metadata.emplace("api-user-id", server_.api_user_id);
      if (!server_.api_access_key.empty()) metadata.emplace("api-access-key", server_.api_access_key);
    }
    methods->Proceed();
  }

 private:
  const Server& server_;
};

class SaysWhoFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit SaysWhoFactory(const Server& server) : server_(server) {}
  grpc::experimental::Interceptor* CreateClientInterceptor(grpc::experimental::ClientRpcInfo*) override {
    return new SaysWho(server_);  // gRPC's from now on
  }

 private:
  const Server& server_;
};

// `server` outlives the channel.
std::shared_ptr<grpc::Channel> channelTo(const Server& server) {
  // gRPC's own lines would stand beside the error, which says the same in words.
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  const std::string target = targetOf(server.address);
  if (server.token.empty() && server.api_user_id.empty() && server.api_access_key.empty())
    return grpc::CreateCustomChannel(target, credentials(server.tls), argumentsFor(server));
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<SaysWhoFactory>(server));
  return grpc::experimental::CreateCustomChannelWithInterceptors(target, credentials(server.tls),
                                                                 argumentsFor(server), std::move(factories));
}

// UNAUTHENTICATED has no code of ours.
Code codeOf(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED ? Code::kPermissionDenied : static_cast<Code>(code);
}

// popdistd closes a connection by its socket that it does not take.
bool wasClosedUnheard(const grpc::Status& status, const Server& server) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE && server.address.starts_with("unix:") &&
         (status.error_message().find("Broken pipe") != std::string::npos ||
          status.error_message().find("reset by peer") != std::string::npos ||
          status.error_message().find("ocket closed") != std::string::npos);
}

// By how gRPC's own words begin: popdistd's, such as those of one that waits for etcd, may have the same in
// them.
bool neverConnected(const grpc::Status& status) {
  constexpr std::array<std::string_view, 6> kBegin{"failed to connect to ",
                                                   "connections to all ",
                                                   "DNS resolution ",
                                                   "Connection ",
                                                   "recvmsg:",
                                                   "sendmsg:"};
  return std::any_of(kBegin.begin(), kBegin.end(),
                     [&](std::string_view begin) { return status.error_message().starts_with(begin); });
}

}  // namespace

Connection::Connection(Server which)
    : server(std::move(which)), channel(channelTo(server)), stub(v1::Controller::NewStub(channel)) {}

void waitWhileConnecting(Connection& connection, std::chrono::milliseconds pause) {
  grpc::Channel& channel = *connection.channel;
  channel.WaitForStateChange(channel.GetState(true), std::chrono::system_clock::now() + pause);
}

Status fromGrpc(const grpc::Status& status, const Server& server) {
  if (status.ok()) return {};
  const Code code = codeOf(status.error_code());
  const std::string& words = status.error_message();
  if (wasClosedUnheard(status, server))
    return {code, "popdistd has closed the connection by " + server.address +
                      ": it is ending, or its log says why it refuses you: " + words};
  if (code == Code::kUnavailable && neverConnected(status)) return {code, unreachedText(server, words)};
  if (code == Code::kUnavailable && words.find("ocket closed") != std::string::npos)
    return {code, "the connection to popdistd at " + server.address + " was lost: it was closed there"};
  if (code == Code::kDeadlineExceeded)
    return {code, "no answer from " + server.address + " within " + server.timeout_option};
  return {code, words.empty() ? "popdistd at " + server.address + " gave no reason" : words};
}

Status streamEnd(const grpc::Status& status, const Server& server) {
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return unavailable(status.error_message());
  return fromGrpc(status, server);
}

}  // namespace pop::popctl
