// SPDX-License-Identifier: Apache-2.0
// Every call of popdistd, by gRPC and HTTP, at the popdistd that leads and at one that follows, by everybody
// who could try: what is answered follows from the call's row in the table alone.
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/tls/certificates.h"
#include "proto/popdist/v1/access.grpc.pb.h"
#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"
#include "tests/integration/daemon/leaders_fixture.h"
#include "tests/testing/all_calls.h"

namespace pop::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

enum class Known { kAsUser, kByToken, kByKey, kAsNobody, kByWrongSecret, kNotByTls };

/// An attacker, and what the table is told of it.
struct Attacker {
  std::string what;
  Known known = Known::kAsUser;
  v1::Role role = v1::ROLE_NONE;
  std::string user;      ///< whose jobs are its own
  tls::KeyPair pair;     ///< empty: none is shown
  std::string token;     ///< "pop_…"
  std::string key_user;  ///< with the next: a key of V-IPU's clients
  std::string key;
};

struct Attempt {
  const MethodDescriptor* call = nullptr;
  std::string job_of;  ///< empty: the call is for no job
  HttpPath http;
};

// Names the job in the request, wherever that has a place for one. False: it has none.
bool nameJob(Message& request, std::int64_t job) {
  const auto& type = *request.GetDescriptor();
  const auto& reflection = *request.GetReflection();
  if (type.full_name() == "popdist.v1.JobRef") {
    reflection.SetInt64(&request, type.FindFieldByName("id"), job);
    return true;
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string of = field.message_type() == nullptr ? "" : field.message_type()->full_name();
    if (!field.is_repeated() && (of == "popdist.v1.JobRef" || of == "popdist.v1.LogsRequest"))
      return nameJob(*reflection.MutableMessage(&request, &field), job);
  }
  return false;
}

class EveryCall : public SeveralDaemons {
 protected:
  EveryCall() {
    // So that their descriptors are linked in.
    virmgrpc::UserService::NewStub(channel("root"));
    virmgrpc::VersionService::NewStub(channel("root"));
    startMember(0);
    startMember(1);
    makeAttackers();
  }

  tls::KeyPair pairIn(const std::string& directory, const std::string& name) const {
    return {fileText(path(directory + '/' + name + ".pem")),
            fileText(path(directory + '/' + name + "-key.pem"))};
  }
  tls::KeyPair userPair(const std::string& user) const {
    return tls::makeUserCertificate(pairIn("tls", "ca"), user, 1).value();
  }

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

  // An admin's, of a smaller scope.
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

  void makeAttackers() {
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
    attackers_.push_back({"a host's certificate", Known::kAsNobody, {}, {}, pairIn("tls", "host-h0")});
    attackers_.push_back({"a removed token", Known::kByWrongSecret, {}, {}, {}, removedToken()});
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

  static void setDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }

  // ---- what is tried

  // Each call, for each owner of a job whom its row tells apart, by each of its paths; those without one, by
  // gRPC alone.
  std::vector<Attempt> attemptsOf(const Attacker& attacker) {
    std::vector<Attempt> attempts;
    for (const MethodDescriptor* const call : allCalls()) {
      std::vector<std::string> owners{""};
      if (nameJob(*newRequest(*call), 1)) owners = {"alice"};
      if (owners.front() == "alice" && !attacker.user.empty() && attacker.role >= v1::ROLE_VIEWER)
        owners.push_back(attacker.user);
      std::vector<HttpPath> paths = httpPathsOf(*call);
      if (paths.empty()) paths.emplace_back();
      for (const std::string& owner : owners) {
        for (const HttpPath& each : paths) attempts.push_back({call, owner, each});
      }
    }
    return attempts;
  }

  // A job of the owner: one that only waits where it is changed, and one that has ended where it is read.
  std::int64_t jobFor(const Attempt& attempt) {
    if (attempt.job_of.empty()) return 0;
    std::unique_ptr<v1::Controller::Stub>& stub = owners_[attempt.job_of];
    if (stub == nullptr)
      stub = v1::Controller::NewStub(channelOf({{}, Known::kAsUser, {}, {}, userPair(attempt.job_of)}, 0));
    const bool is_changed = popdistd::ruleOf(ruleNameOf(attempt.call->name())).is_audited;
    std::int64_t& kept = ended_jobs_[attempt.job_of];
    if (!is_changed && kept != 0) return kept;
    const std::int64_t job = newJob(*stub, attempt.job_of);
    if (is_changed || job == 0) return job;
    EXPECT_TRUE(cancel(job, "root").ok());
    return kept = job;
  }

  std::int64_t newJob(v1::Controller::Stub& stub, const std::string& owner) {
    if (owner == "viewer") return 0;
    grpc::ClientContext context;
    setDeadline(context);
    v1::SubmitReply reply;
    const grpc::Status made = stub.Submit(&context, shell("true"), &reply);
    EXPECT_TRUE(made.ok()) << owner << ": " << made.error_message();
    return reply.job().id();
  }

  std::unique_ptr<Message> newRequest(const MethodDescriptor& call) {
    return std::unique_ptr<Message>(messages_.GetPrototype(call.input_type())->New());
  }

  // ---- by gRPC

  std::shared_ptr<grpc::Channel> channelOf(const Attacker& attacker, std::size_t member) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        server(member),
        grpc::SslCredentials(
            {fileText(path("tls/ca.pem")), attacker.pair.key_pem, attacker.pair.certificate_pem}),
        arguments);
  }

  // By a stream, as gRPC carries all calls: until its first answer, or its end.
  grpc::Status call(grpc::GenericStub& stub, const Attacker& attacker, const Attempt& attempt,
                    std::int64_t job) {
    grpc::ClientContext context;
    setDeadline(context);
    if (!attacker.token.empty()) context.AddMetadata("authorization", "Bearer " + attacker.token);
    if (!attacker.key.empty()) {
      context.AddMetadata("api-user-id", attacker.key_user);
      context.AddMetadata("api-access-key", attacker.key);
    }
    const std::unique_ptr<Message> request = newRequest(*attempt.call);
    nameJob(*request, job);
    const grpc::Slice slice(request->SerializeAsString());
    grpc::CompletionQueue queue;
    const auto wait = [&queue] {
      void* tag = nullptr;
      bool is_ok = false;
      queue.Next(&tag, &is_ok);
      return is_ok;
    };
    const std::string name = '/' + attempt.call->service()->full_name() + '/' + attempt.call->name();
    const auto stream = stub.PrepareCall(&context, name, &queue);
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

  // ---- by HTTP: all of an attacker's in one curl, and their codes

  void writeHttp(std::ostream& config, const Attacker& attacker, const Attempt& attempt, std::int64_t job,
                 std::size_t member) {
    std::string at = attempt.http.path;
    if (const std::size_t id = at.find("/ID"); id != std::string::npos)
      at.replace(id + 1, 2, std::to_string(job));
    config << "url = \"https://localhost:" << http_ports_[member] << at << "\"\n"
           << "cacert = \"" << path("tls/ca.pem") << "\"\nsilent\noutput = \"/dev/null\"\n"
           << "write-out = \"%{http_code}\\n\"\nmax-time = " << (at == "/v1/watch" ? 1 : 10) << '\n';
    if (!attacker.pair.key_pem.empty())
      config << "cert = \"" << path("shown.pem") << "\"\nkey = \"" << path("shown-key.pem") << "\"\n";
    if (!attacker.token.empty()) config << "header = \"Authorization: Bearer " << attacker.token << "\"\n";
    if (attempt.http.is_posted) {
      const std::unique_ptr<Message> request = newRequest(*attempt.call);
      nameJob(*request, job);
      std::string json;
      EXPECT_TRUE(google::protobuf::util::MessageToJsonString(*request, &json).ok());
      std::string quoted;
      for (const char each : json) quoted += (each == '"' ? "\\\"" : std::string(1, each));
      config << "header = \"Content-Type: application/json\"\ndata = \"" << quoted << "\"\n";
    }
    config << "next\n";
  }

  std::vector<int> codesOf(const Attacker& attacker) const {
    std::ofstream(path("shown.pem")) << attacker.pair.certificate_pem;
    std::ofstream(path("shown-key.pem")) << attacker.pair.key_pem;
    std::vector<int> codes;
    FILE* const pipe = ::popen(("curl --config " + path("curl")).c_str(), "r");
    for (int code = 0; std::fscanf(pipe, "%d", &code) == 1;) codes.push_back(code);
    ::pclose(pipe);
    return codes;
  }

  // ---- what the table says

  static bool isAllowed(const Attacker& attacker, const Attempt& attempt) {
    const popdistd::Rule& rule = popdistd::ruleOf(ruleNameOf(attempt.call->name()));
    if (attacker.known == Known::kByKey && !rule.is_for_keys) return false;
    if (attacker.known == Known::kByToken && attempt.call->name() == "CreateToken") return false;
    return attacker.role >= rule.least &&
           (attempt.job_of.empty() || attempt.job_of == attacker.user || attacker.role >= rule.others);
  }

  static bool isRight(const Attacker& attacker, const Attempt& attempt, grpc::StatusCode code) {
    switch (attacker.known) {
      case Known::kNotByTls:
        return code == grpc::StatusCode::UNAVAILABLE;
      case Known::kAsNobody:
        return code == grpc::StatusCode::UNAUTHENTICATED;
      case Known::kByWrongSecret:
        return code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::RESOURCE_EXHAUSTED;
      default:
        break;
    }
    if (!isAllowed(attacker, attempt)) return code == grpc::StatusCode::PERMISSION_DENIED;
    // Allowed; what is asked for may still not be there.
    constexpr std::array kAnswers{grpc::StatusCode::OK, grpc::StatusCode::INVALID_ARGUMENT,
                                  grpc::StatusCode::NOT_FOUND, grpc::StatusCode::FAILED_PRECONDITION};
    return std::find(kAnswers.begin(), kAnswers.end(), code) != kAnswers.end();
  }

  static bool isRightHttp(const Attacker& attacker, const Attempt& attempt, int code) {
    if (attacker.known == Known::kNotByTls) return code == 0;
    if (attacker.known == Known::kByWrongSecret) return code == 401 || code == 429;
    if (attacker.known == Known::kAsNobody) return code == 401;
    if (!isAllowed(attacker, attempt)) return code == 403;
    return code == 200 || code == 400 || code == 404 || code == 409;
  }

  static std::string said(const Attacker& attacker, const Attempt& attempt) {
    return attacker.what + " at " + attempt.call->full_name() + ' ' + attempt.http.path +
           (attempt.job_of.empty() ? "" : " for a job of " + attempt.job_of);
  }

  void attack(const Attacker& attacker, std::size_t member) {
    grpc::GenericStub stub(channelOf(attacker, member));
    std::ofstream config(path("curl"));
    std::vector<Attempt> by_http;
    const MethodDescriptor* last = nullptr;
    std::string last_owner;
    for (const Attempt& each : attemptsOf(attacker)) {
      const std::int64_t job = jobFor(each);
      if (job == 0 && !each.job_of.empty()) continue;
      if (each.call != last || each.job_of != last_owner) {
        const grpc::Status status = call(stub, attacker, each, job);
        EXPECT_TRUE(isRight(attacker, each, status.error_code()))
            << said(attacker, each) << ": " << status.error_code() << ' ' << status.error_message();
        ++num_attempts_;
      }
      last = each.call;
      last_owner = each.job_of;
      if (each.http.path.empty() || attacker.known == Known::kByKey) continue;
      writeHttp(config, attacker, each, jobFor(each), member);
      by_http.push_back(each);
    }
    config.close();
    const std::vector<int> codes = by_http.empty() ? std::vector<int>() : codesOf(attacker);
    ASSERT_EQ(codes.size(), by_http.size()) << attacker.what;
    for (std::size_t i = 0; i < codes.size(); ++i)
      EXPECT_TRUE(isRightHttp(attacker, by_http[i], codes[i]))
          << said(attacker, by_http[i]) << ": " << codes[i];
    num_attempts_ += codes.size();
  }

  void attackAll(std::size_t member) {
    ASSERT_FALSE(allCalls().empty());
    for (const Attacker& each : attackers_) attack(each, member);
    RecordProperty("attempts", static_cast<int>(num_attempts_));
  }

  google::protobuf::DynamicMessageFactory messages_;
  std::unique_ptr<v1::Access::Stub> access_;
  std::vector<Attacker> attackers_;
  std::map<std::string, std::unique_ptr<v1::Controller::Stub>> owners_;
  std::map<std::string, std::int64_t> ended_jobs_;
  std::size_t num_attempts_ = 0;
};

TEST_F(EveryCall, IsAnsweredAsItsRowSays) {
  attackAll(0);
}

TEST_F(EveryCall, IsAnsweredAsItsRowSaysByAPopdistdThatFollows) {
  attackAll(1);
}

}  // namespace
}  // namespace pop::testing
