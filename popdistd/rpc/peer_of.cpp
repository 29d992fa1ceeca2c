// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/peer_of.h"

#include <grpcpp/security/auth_context.h>

#include <grpc/grpc_security_constants.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "common/tls/peer_user.h"

namespace pop::popdistd {
namespace {

std::vector<std::string> propertyOf(const grpc::AuthContext& context, const char* name) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(name))
    values.emplace_back(value.data(), value.size());
  return values;
}

// The first of several values with one name counts, and an empty one is none.
std::string metadataOf(const grpc::CallbackServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  return found == context.client_metadata().end() ? ""
                                                  : std::string(found->second.data(), found->second.size());
}

}  // namespace

// "ipv4:10.0.0.1:1234", "ipv6:%5Bfd00::1%5D:1234"
End CallersOf::endOf(const grpc::CallbackServerContext& context) {
  std::string uri = context.peer();
  for (const auto& [escape, plain] : {std::pair("%5B", '['), std::pair("%5D", ']'), std::pair("%25", '%')}) {
    if (const std::size_t at = uri.find(escape); at != std::string::npos) uri.replace(at, 3, 1, plain);
  }
  const std::size_t begin = uri.find(':') + 1;
  const std::size_t colon = uri.rfind(':');
  End end;
  end.address = colon > begin ? uri.substr(begin, colon - begin) : uri;
  std::from_chars(uri.data() + colon + 1, uri.data() + uri.size(), end.port);
  if (end.address.starts_with('[') && end.address.ends_with(']'))
    end.address = end.address.substr(1, end.address.size() - 2);
  constexpr std::string_view kMapped = "::ffff:";
  if (end.address.starts_with(kMapped)) end.address.erase(0, kMapped.size());
  return end;
}

Peer CallersOf::peer(const grpc::CallbackServerContext& context) const {
  Peer peer;
  peer.has_tls = has_tls_;
  peer.unix_user = unix_user_;
  if (!unix_user_.empty()) return peer;
  const End client = clientAt(endOf(context));
  peer.address = client.address;
  peer.port = std::to_string(client.port);
  if (!has_tls_) return peer;
  const std::shared_ptr<const grpc::AuthContext> known = context.auth_context();
  for (const grpc::string_ref& pem : known->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)) {
    if (tls::isOfIssuer(std::string_view(pem.data(), pem.size()))) return peer;  // a job is no caller here
  }
  for (const char* const part : {GRPC_X509_PEM_CERT_PROPERTY_NAME, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME})
    for (const std::string& pem : propertyOf(*known, part)) peer.certificate += pem;
  peer.uris = propertyOf(*known, GRPC_PEER_URI_PROPERTY_NAME);
  peer.names = propertyOf(*known, GRPC_PEER_DNS_PROPERTY_NAME);
  for (std::string& ip : propertyOf(*known, GRPC_PEER_IP_PROPERTY_NAME)) peer.names.push_back(std::move(ip));
  return peer;
}

Result<Caller> CallersOf::caller(const grpc::CallbackServerContext& context) const {
  const Peer from = peer(context);
  Result<Caller> known = identify_(from, {.authorization = metadataOf(context, "authorization"),
                                          .api_user_id = metadataOf(context, "api-user-id"),
                                          .api_access_key = metadataOf(context, "api-access-key")});
  if (known.ok()) isKnown(endOf(context));
  return known;
}

End CallersOf::clientAt(const End& end) const {
  return connections_ ? connections_->clientAt(end) : end;
}

void CallersOf::isKnown(const End& end) const {
  if (connections_) connections_->isKnown(end);
}

}  // namespace pop::popdistd
