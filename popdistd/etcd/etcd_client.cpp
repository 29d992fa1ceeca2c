// SPDX-License-Identifier: Apache-2.0
#include "popdistd/etcd/etcd_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "proto/etcd/rpc.grpc.pb.h"

namespace pop::popdistd {
namespace {

namespace pb = ::etcdserverpb;

// Deadline of one server's answer, before the next is asked.
constexpr std::chrono::milliseconds kAttempt{1000};
constexpr std::chrono::milliseconds kConnect{300};
constexpr std::chrono::milliseconds kPause{50};  // after all have failed

grpc::ChannelArguments arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // http_proxy is for other things
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);  // which is the time limit of connecting, too
  arguments.SetMaxReceiveMessageSize(-1);                     // the limits are etcd's
  return arguments;
}

std::shared_ptr<grpc::Channel> channelTo(const std::string& address,
                                         const std::optional<tls::TlsFiles>& files) {
  const auto credentials =
      files ? grpc::SslCredentials({files->authority_pem, files->key_pem, files->certificate_pem})
            : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel("dns:///" + address, credentials, arguments());
}

std::chrono::system_clock::time_point wallTime(Clock::time_point time) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(time - Clock::now());
}

Code codeOf(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED ? Code::kPermissionDenied : static_cast<Code>(code);
}

// True for a failure of this server, which another may not have; a refusal is etcd's.
bool isFailure(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::ABORTED:
      return true;
    default:
      return status.error_message().find("too many requests") != std::string::npos;
  }
}

// The words of a server's failure, the same for the same cause: gRPC names whichever lookup of a name has
// ended last.
std::string reasonOf(const grpc::Status& status, const std::optional<tls::TlsFiles>& files) {
  std::string words = printable(status.error_message());
  if (const std::size_t begin = words.find("qtype="); begin != std::string::npos)
    words.erase(begin, words.find(' ', begin) - begin + 1);
  const bool may_want_tls = !files && words.find("ocket closed") != std::string::npos;
  return words + (may_want_tls ? " (if it has TLS: --etcd-tls)" : "");
}

// gRPC connects only during a wait for it. Also true where connecting has failed: a call, which is not sent
// then, says why.
bool connects(grpc::Channel& channel, Clock::time_point deadline) {
  while (true) {
    const grpc_connectivity_state state = channel.GetState(true);
    if (state == GRPC_CHANNEL_READY) return true;
    if (!channel.WaitForStateChange(state, wallTime(deadline)))
      return channel.GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  }
}

// A request that was never sent was not done.
bool mayBeDone(const grpc::Status& status) {
  const std::string& words = status.error_message();
  return words.find("failed to connect") == std::string::npos &&
         words.find("too many requests") == std::string::npos;
}

EtcdPair pairOf(mvccpb::KeyValue& pair) {
  return {std::move(*pair.mutable_key()), std::move(*pair.mutable_value()), pair.create_revision(),
          pair.lease()};
}

pb::TxnRequest requestOf(const EtcdTransaction& transaction) {
  pb::TxnRequest request;
  for (const auto& each : transaction.expected) {
    pb::Compare& compare = *request.add_compare();
    compare.set_result(pb::Compare::EQUAL);
    compare.set_target(pb::Compare::CREATE);
    compare.set_key(each.key);
    compare.set_create_revision(each.create_revision);
  }
  for (const auto& each : transaction.puts) {
    pb::PutRequest& put = *request.add_success()->mutable_request_put();
    put.set_key(each.key);
    put.set_value(each.value);
    put.set_lease(each.lease);
  }
  for (const EtcdRange& each : transaction.removes) {
    pb::DeleteRangeRequest& remove = *request.add_success()->mutable_request_delete_range();
    remove.set_key(each.first);
    remove.set_range_end(each.end);
  }
  for (const std::string& each : transaction.else_read)
    request.add_failure()->mutable_request_range()->set_key(each);
  return request;
}

}  // namespace

struct EtcdClient::Calls {
  struct Stubs {
    explicit Stubs(std::shared_ptr<grpc::Channel> to)
        : channel(std::move(to)),
          cluster(pb::Cluster::NewStub(channel)),
          kv(pb::KV::NewStub(channel)),
          lease(pb::Lease::NewStub(channel)) {}
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<pb::Cluster::Stub> cluster;
    std::unique_ptr<pb::KV::Stub> kv;
    std::unique_ptr<pb::Lease::Stub> lease;
  };

  explicit Calls(const EtcdServers& all) : servers(all) {
    for (const std::string& address : servers.addresses) stubs.emplace_back(channelTo(address, servers.tls));
  }

  // `call`: of one server. Server by server, from the one that has answered last.
  Status call(Clock::time_point deadline,
              const std::function<grpc::Status(const Stubs&, grpc::ClientContext&)>& call) {
    std::string why;
    bool is_unknown = false;
    for (std::size_t attempt = 0; Clock::now() < deadline; ++attempt) {
      const std::size_t server = (last_good + attempt) % stubs.size();
      if (!connects(*stubs[server].channel, std::min(deadline, Clock::now() + kConnect))) {
        if (why.empty()) why = servers.addresses[server] + ": no answer";
        continue;
      }
      grpc::ClientContext context;
      context.set_deadline(wallTime(std::min(deadline, Clock::now() + kAttempt)));
      const grpc::Status status = call(stubs[server], context);
      if (!isFailure(status)) {
        last_good = server;
        if (!status.ok() && is_unknown)
          return unavailable("etcd refuses what it may have done: " + status.error_message());
        return status.ok() ? Status()
                           : Status(codeOf(status.error_code()), "etcd refuses: " + status.error_message());
      }
      is_unknown = is_unknown || mayBeDone(status);
      // A reason says more than that time is over.
      if (why.empty() || status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED)
        why = servers.addresses[server] + ": " + reasonOf(status, servers.tls);
      if ((attempt + 1) % stubs.size() == 0)
        std::this_thread::sleep_until(std::min(deadline, Clock::now() + kPause));
    }
    return unavailable("etcd does not answer (" + (why.empty() ? "there was no time for it" : why) + ")");
  }

  const EtcdServers& servers;
  std::vector<Stubs> stubs;
  std::atomic<std::size_t> last_good = 0;
};

std::string EtcdServers::text() const {
  return join(addresses, ",");
}

EtcdRange keysBelow(const std::string& prefix) {
  EtcdRange range{prefix, prefix};
  ++range.end.back();  // our prefixes end with a slash
  return range;
}

EtcdClient::EtcdClient(EtcdServers servers)
    : servers_(std::move(servers)), calls_(std::make_unique<Calls>(servers_)) {}
EtcdClient::~EtcdClient() = default;

Result<EtcdOutcome> EtcdClient::transact(const EtcdTransaction& transaction, Clock::time_point deadline) {
  const pb::TxnRequest request = requestOf(transaction);
  pb::TxnResponse response;
  POP_RETURN_IF_ERROR(calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    return stubs.kv->Txn(&context, request, &response);
  }));
  EtcdOutcome outcome{.done = response.succeeded(), .revision = response.header().revision(), .read = {}};
  if (outcome.done) return outcome;
  for (pb::ResponseOp& each : *response.mutable_responses())
    for (mvccpb::KeyValue& pair : *each.mutable_response_range()->mutable_kvs())
      outcome.read.push_back(pairOf(pair));
  return outcome;
}

Result<EtcdPairs> EtcdClient::read(const EtcdRange& range, std::int64_t most, Clock::time_point deadline) {
  pb::RangeRequest request;
  request.set_key(range.first);
  request.set_range_end(range.end);
  request.set_limit(most);
  pb::RangeResponse response;
  POP_RETURN_IF_ERROR(calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    return stubs.kv->Range(&context, request, &response);
  }));
  EtcdPairs pairs{.pairs = {}, .more = response.more(), .revision = response.header().revision()};
  for (mvccpb::KeyValue& pair : *response.mutable_kvs()) pairs.pairs.push_back(pairOf(pair));
  return pairs;
}

Status EtcdClient::compact(std::int64_t revision, Clock::time_point deadline) {
  pb::CompactionRequest request;
  request.set_revision(revision);
  pb::CompactionResponse response;
  Status status = calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    return stubs.kv->Compact(&context, request, &response);
  });
  return status.code() == Code::kOutOfRange ? Status() : status;
}

Result<std::vector<EtcdMember>> EtcdClient::members(Clock::time_point deadline) {
  const pb::MemberListRequest request;
  pb::MemberListResponse response;
  POP_RETURN_IF_ERROR(calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    return stubs.cluster->MemberList(&context, request, &response);
  }));
  std::vector<EtcdMember> members;
  for (const pb::Member& each : response.members()) {
    EtcdMember& member = members.emplace_back(EtcdMember{.name = each.name(), .urls = {}});
    member.urls.assign(each.clienturls().begin(), each.clienturls().end());
    member.urls.insert(member.urls.end(), each.peerurls().begin(), each.peerurls().end());
  }
  return members;
}

Result<std::int64_t> EtcdClient::grantLease(std::chrono::seconds duration, Clock::time_point deadline) {
  pb::LeaseGrantRequest request;
  request.set_ttl(duration.count());
  pb::LeaseGrantResponse response;
  POP_RETURN_IF_ERROR(calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    return stubs.lease->LeaseGrant(&context, request, &response);
  }));
  return response.id();
}

Status EtcdClient::keepAlive(std::int64_t lease, Clock::time_point deadline) {
  pb::LeaseKeepAliveRequest request;
  request.set_id(lease);
  pb::LeaseKeepAliveResponse response;
  POP_RETURN_IF_ERROR(calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    response.Clear();
    const auto stream = stubs.lease->LeaseKeepAlive(&context);
    const bool answered = stream->Write(request) && stream->Read(&response);
    stream->WritesDone();
    if (answered) context.TryCancel();  // one answer is enough
    const grpc::Status status = stream->Finish();
    if (answered) return grpc::Status::OK;
    return status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "no answer") : status;
  }));
  return response.ttl() > 0 ? Status() : Status(Code::kNotFound, "etcd has ended the lease");
}

Status EtcdClient::revokeLease(std::int64_t lease, Clock::time_point deadline) {
  pb::LeaseRevokeRequest request;
  request.set_id(lease);
  pb::LeaseRevokeResponse response;
  Status status = calls_->call(deadline, [&](const Calls::Stubs& stubs, grpc::ClientContext& context) {
    return stubs.lease->LeaseRevoke(&context, request, &response);
  });
  return status.code() == Code::kNotFound ? Status() : status;
}

}  // namespace pop::popdistd
