// SPDX-License-Identifier: Apache-2.0
// Two real popdistds, one of which follows, and every kind of caller that could try forbidden calls.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "common/tls/certificates.h"
#include "proto/popdist/v1/access.grpc.pb.h"
#include "tests/integration/daemon/leaders_fixture.h"

namespace pop::testing {

enum class Known { kAsUser, kByToken, kByKey, kAsHost, kAsNobody, kByWrongSecret, kNotByTls };

/// An attacker, and what the table of calls is told of it.
struct Attacker {
  std::string what;
  Known known = Known::kAsUser;
  v1::Role role = v1::ROLE_NONE;
  std::string user;      ///< the owner of its own jobs
  tls::KeyPair pair;     ///< empty: none is shown
  std::string token;     ///< "pop_…"
  std::string key_user;  ///< with the next: a key of V-IPU's clients
  std::string key;
};

class Attackers : public SeveralDaemons {
 protected:
  Attackers() {
    startMember(0);
    startMember(1);
    access_ = v1::Access::NewStub(channel("root"));
    makeUser("shut", v1::ROLE_NONE);
    makeUser("viewer", v1::ROLE_VIEWER);
    makeUser("submitter", v1::ROLE_SUBMIT);
    makeUser("operator", v1::ROLE_OPERATOR);
    attackers_.push_back(
        {"an admin's certificate", Known::kAsUser, v1::ROLE_ADMIN, "root", userPair("root")});
    for (int role = v1::ROLE_VIEWER; role <= v1::ROLE_ADMIN; ++role) {
      const auto scope = static_cast<v1::Role>(role);
      attackers_.push_back({"an admin's token of scope " + v1::Role_Name(scope),
                            Known::kByToken,
                            scope,
                            "root",
                            {},
                            makeToken(scope).secret()});
    }
    attackers_.push_back({"nothing", Known::kAsNobody});
    attackers_.push_back({"a host's certificate", Known::kAsHost, {}, {}, hostPair("h0")});
    attackers_.push_back({"a removed token", Known::kByWrongSecret, {}, {}, {}, removedToken()});
    makeThoseWhomTlsRefuses();
  }

  tls::KeyPair pairIn(const std::string& directory, const std::string& name) const {
    return {fileText(path(directory + '/' + name + ".pem")),
            fileText(path(directory + '/' + name + "-key.pem"))};
  }
  tls::KeyPair hostPair(const std::string& host) const {
    return tls::makeHostCertificate(pairIn("tls", "ca"), {host}, 1).value();
  }
  tls::KeyPair userPair(const std::string& user) const {
    return tls::makeUserCertificate(pairIn("tls", "ca"), user, 1).value();
  }

  static void setDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }

  std::shared_ptr<grpc::Channel> channelTo(const std::string& place, const tls::KeyPair& pair) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        place, grpc::SslCredentials({fileText(path("tls/ca.pem")), pair.key_pem, pair.certificate_pem}),
        arguments);
  }

  /// By a stream, as gRPC carries all calls: until its first answer, or its end.
  static grpc::Status call(grpc::GenericStub& stub, const Attacker& attacker, const std::string& method,
                           const std::string& request) {
    grpc::ClientContext context;
    setDeadline(context);
    if (!attacker.token.empty()) context.AddMetadata("authorization", "Bearer " + attacker.token);
    if (!attacker.key.empty()) {
      context.AddMetadata("api-user-id", attacker.key_user);
      context.AddMetadata("api-access-key", attacker.key);
    }
    const grpc::Slice slice(request);
    grpc::CompletionQueue queue;
    const auto wait = [&queue] {
      void* tag = nullptr;
      bool is_ok = false;
      queue.Next(&tag, &is_ok);
      return is_ok;
    };
    const auto stream = stub.PrepareCall(&context, method, &queue);
    stream->StartCall(nullptr);
    bool goes_on = wait();
    if (goes_on) {
      stream->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
      wait();
      grpc::ByteBuffer answer;
      stream->Read(&answer, nullptr);
      goes_on = wait();
    }
    if (goes_on) context.TryCancel();
    grpc::Status status;
    stream->Finish(&status, nullptr);
    wait();
    return goes_on ? grpc::Status::OK : status;
  }

  /// The attacker's proof for curl, which can have one at a time.
  std::vector<std::string> curlOptions(const Attacker& attacker) const {
    std::vector<std::string> options{"cacert = \"" + path("tls/ca.pem") + '"'};
    if (attacker.pair.key_pem.empty()) return options;
    std::ofstream(path("shown.pem")) << attacker.pair.certificate_pem;
    std::ofstream(path("shown-key.pem")) << attacker.pair.key_pem;
    options.push_back("cert = \"" + path("shown.pem") + '"');
    options.push_back("key = \"" + path("shown-key.pem") + '"');
    return options;
  }
  static std::vector<std::string> curlHeaders(const Attacker& attacker) {
    if (attacker.token.empty()) return {};
    return {"Authorization: Bearer " + attacker.token};
  }
  std::string url(std::size_t member, const std::string& at) const {
    return "https://localhost:" + std::to_string(http_ports_[member]) + at;
  }

  /// A refusal by TLS is one of a server that serves others.
  void expectServes(std::size_t member) {
    const Attacker root{"root", Known::kAsUser, v1::ROLE_ADMIN, "root", userPair("root")};
    grpc::GenericStub stub(channelTo(server(member), root.pair));
    const grpc::Status about = call(stub, root, "/popdist.v1.Controller/About", "");
    EXPECT_TRUE(about.ok()) << about.error_message();
  }

  v1::CreateTokenReply makeToken(v1::Role scope) {
    grpc::ClientContext context;
    setDeadline(context);
    v1::CreateTokenRequest request;
    request.set_scope(scope);
    v1::CreateTokenReply reply;
    const grpc::Status made = access_->CreateToken(&context, request, &reply);
    EXPECT_TRUE(made.ok()) << made.error_message();
    return reply;
  }

  std::vector<Attacker> attackers_;

 private:
  void makeUser(const std::string& name, v1::Role role) {
    grpc::ClientContext context;
    setDeadline(context);
    v1::CreateUserRequest request;
    request.set_name(name);
    request.set_role(role);
    request.set_shut_out(role == v1::ROLE_NONE);
    request.set_vipu_key(role != v1::ROLE_NONE);
    v1::CreateUserReply reply;
    const grpc::Status made = access_->CreateUser(&context, request, &reply);
    ASSERT_TRUE(made.ok()) << made.error_message();
    attackers_.push_back({"a certificate of " + name, Known::kAsUser, role, name, userPair(name)});
    if (role != v1::ROLE_NONE)
      attackers_.push_back({"a key of " + name,
                            Known::kByKey,
                            role,
                            name,
                            {},
                            {},
                            reply.api_user_id(),
                            reply.api_access_key()});
  }

  std::string removedToken() {
    const v1::CreateTokenReply made = makeToken(v1::ROLE_ADMIN);
    grpc::ClientContext context;
    setDeadline(context);
    v1::TokenRef token;
    token.set_id(made.token().id());
    v1::Nothing nothing;
    EXPECT_TRUE(access_->RemoveToken(&context, token, &nothing).ok());
    return made.secret();
  }

  void makeThoseWhomTlsRefuses() {
    const auto refused = [this](const std::string& what, tls::KeyPair pair) {
      attackers_.push_back({what, Known::kNotByTls, {}, {}, std::move(pair)});
    };
    const tls::KeyPair issuer = pairIn("tls", "issuer");
    tls::KeyPair of_job = tls::makeJobCertificate(issuer, {1, "a1", "alice", {"h0"}}, 1).value();
    of_job.certificate_pem += issuer.certificate_pem;
    refused("a job's certificate", of_job);
    refused("the jobs' issuer", issuer);
    refused("etcd's client certificate", pairIn("etcd-tls", "host"));
    refused("an expired certificate", tls::makeUserCertificate(pairIn("tls", "ca"), "root", -2).value());
    refused("a certificate of another authority",
            tls::makeUserCertificate(tls::makeAuthority(1).value(), "root", 1).value());
  }

  std::unique_ptr<v1::Access::Stub> access_;
};

}  // namespace pop::testing
