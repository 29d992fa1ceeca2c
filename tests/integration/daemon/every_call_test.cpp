// SPDX-License-Identifier: Apache-2.0
// Every call of popdistd, by gRPC and HTTP, at the popdistd that leads and at one that follows, by every
// kind of attacker: the answer follows from the call's row in the table alone, and from the owner of the
// thing that the call names.
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>

#include "proto/virmgrpc/version.grpc.pb.h"
#include "tests/integration/daemon/alices_things.h"
#include "tests/integration/daemon/attackers.h"
#include "tests/integration/daemon/curl_requests.h"
#include "tests/testing/all_calls.h"
#include "tests/testing/source_relay.h"

namespace pop::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

struct Attempt {
  const MethodDescriptor* call = nullptr;
  std::string job_of;         ///< empty: the call is for no job
  bool names_alices = false;  ///< things of hers, beside jobs
  std::vector<HttpPath> paths;
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

class EveryCall : public Attackers {
 protected:
  EveryCall() {
    virmgrpc::VersionService::NewStub(channel("root"));  // so that its descriptors are linked in
  }

  // ---- what is tried

  // Each call, for each owner of a job whom its row tells apart, and for what alice has.
  std::vector<Attempt> attemptsOf(const Attacker& attacker) {
    std::vector<Attempt> attempts;
    for (const MethodDescriptor* const call : allCalls()) {
      const std::vector<HttpPath> paths = httpPathsOf(*call);
      const bool is_for_jobs = nameJob(*newRequest(*call), 1);
      attempts.push_back({call, is_for_jobs ? "alice" : "", false, paths});
      if (is_for_jobs && !attacker.user.empty() && attacker.role >= v1::ROLE_SUBMIT)
        attempts.push_back({call, attacker.user, false, paths});
      if (!is_for_jobs && things_.nameIn(*newRequest(*call))) attempts.push_back({call, "", true, paths});
    }
    return attempts;
  }

  // A job of the owner: one that only waits where it is changed, and one that has ended where it is read.
  std::int64_t jobFor(const Attempt& attempt) {
    if (attempt.job_of.empty()) return 0;
    std::unique_ptr<v1::Controller::Stub>& stub = owners_[attempt.job_of];
    if (stub == nullptr) stub = v1::Controller::NewStub(channelTo(server(0), userPair(attempt.job_of)));
    const bool is_changed = popdistd::ruleOf(ruleNameOf(attempt.call->name())).is_audited;
    std::int64_t& kept = ended_jobs_[attempt.job_of];
    if (!is_changed && kept != 0) return kept;
    grpc::ClientContext context;
    setDeadline(context);
    v1::SubmitReply reply;
    const grpc::Status made = stub->Submit(&context, shell("true"), &reply);
    EXPECT_TRUE(made.ok()) << attempt.job_of << ": " << made.error_message();
    const std::int64_t job = reply.job().id();
    if (is_changed) return job;
    EXPECT_TRUE(cancel(job, "root").ok());
    return kept = job;
  }

  std::unique_ptr<Message> newRequest(const MethodDescriptor& call) {
    return std::unique_ptr<Message>(messages_.GetPrototype(call.input_type())->New());
  }
  std::unique_ptr<Message> requestOf(const Attempt& attempt, std::int64_t job) {
    std::unique_ptr<Message> request = newRequest(*attempt.call);
    nameJob(*request, job);
    if (attempt.names_alices) things_.nameIn(*request);
    return request;
  }

  // Wrong tokens are slowed down by their address, but for the first 20.
  std::string addressFor(const Attacker& attacker) {
    constexpr int kOfEach = 15;
    if (attacker.known != Known::kByWrongSecret) return "127.0.0.1";
    return "127.0.0." + std::to_string(2 + num_wrong_++ / kOfEach);
  }

  grpc::GenericStub& stubOf(const Attacker& attacker, std::size_t member) {
    const std::string address = addressFor(attacker);
    if (stub_ != nullptr && address == stub_address_) return *stub_;
    stub_address_ = address;
    if (address != "127.0.0.1") relay_.emplace(ports_[member], address);
    const std::string place =
        address == "127.0.0.1" ? server(member) : "localhost:" + std::to_string(relay_->port());
    stub_ = std::make_unique<grpc::GenericStub>(channelTo(place, attacker.pair));
    return *stub_;
  }

  CurlRequest curlRequestOf(const Attacker& attacker, const Attempt& attempt, const HttpPath& path,
                            std::size_t member) {
    const std::int64_t job = jobFor(attempt);
    std::string at = path.path;
    if (const std::size_t id = at.find("/ID"); id != std::string::npos)
      at.replace(id + 1, 2, std::to_string(job));
    CurlRequest request{.method = path.is_posted ? "POST" : "GET", .url = url(member, at), .body = {}};
    if (path.is_posted) {
      EXPECT_TRUE(google::protobuf::util::MessageToJsonString(*requestOf(attempt, job), &request.body).ok());
    }
    request.options = curlOptions(attacker);
    request.options.push_back("ipv4\ninterface = \"" + addressFor(attacker) + '"');
    request.headers = curlHeaders(attacker);
    request.limit_s = at == "/v1/watch" ? 1 : 10;
    return request;
  }

  // ---- what the table says

  static bool isAllowed(const Attacker& attacker, const Attempt& attempt) {
    const popdistd::Rule& rule = popdistd::ruleOf(ruleNameOf(attempt.call->name()));
    if (attacker.known == Known::kByKey && !rule.is_for_keys) return false;
    if (attacker.known == Known::kByToken && attempt.call->name() == "CreateToken") return false;
    return attacker.role >= rule.least &&
           (attempt.job_of.empty() || attempt.job_of == attacker.user || attacker.role >= rule.others);
  }
  static bool isHidden(const Attacker& attacker, const Attempt& attempt) {
    return attempt.names_alices && attacker.role < v1::ROLE_ADMIN &&
           AlicesThings::areHiddenBy(attempt.call->full_name());
  }

  static bool isRight(const Attacker& attacker, const Attempt& attempt, grpc::StatusCode code) {
    switch (attacker.known) {
      case Known::kNotByTls:
        return code == grpc::StatusCode::UNAVAILABLE;
      case Known::kAsHost:
        return code == grpc::StatusCode::PERMISSION_DENIED;
      case Known::kAsNobody:
        return code == grpc::StatusCode::UNAUTHENTICATED;
      case Known::kByWrongSecret:
        return code == grpc::StatusCode::UNAUTHENTICATED;
      default:
        break;
    }
    if (!isAllowed(attacker, attempt)) return code == grpc::StatusCode::PERMISSION_DENIED;
    if (isHidden(attacker, attempt))
      return code == grpc::StatusCode::NOT_FOUND || code == grpc::StatusCode::PERMISSION_DENIED;
    // Allowed; what is asked for may still not be there.
    constexpr std::array kAnswers{grpc::StatusCode::OK, grpc::StatusCode::INVALID_ARGUMENT,
                                  grpc::StatusCode::NOT_FOUND, grpc::StatusCode::FAILED_PRECONDITION};
    return std::find(kAnswers.begin(), kAnswers.end(), code) != kAnswers.end();
  }

  static bool isRightHttp(const Attacker& attacker, const Attempt& attempt, int code) {
    if (attacker.known == Known::kNotByTls) return code == 0;
    if (attacker.known == Known::kByWrongSecret) return code == 401;
    if (attacker.known == Known::kAsNobody || attacker.known == Known::kAsHost) return code == 401;
    if (!isAllowed(attacker, attempt)) return code == 403;
    if (isHidden(attacker, attempt)) return code == 403 || code == 404;
    return code == 200 || code == 400 || code == 404 || code == 409;
  }

  static std::string said(const Attacker& attacker, const Attempt& attempt) {
    return attacker.what + " at " + attempt.call->full_name() +
           (attempt.job_of.empty() ? "" : " for a job of " + attempt.job_of) +
           (attempt.names_alices ? " for what is alice's" : "");
  }

  void attackByGrpc(const Attacker& attacker, const std::vector<Attempt>& attempts, std::size_t member) {
    stub_ = nullptr;
    for (const Attempt& each : attempts) {
      const std::string method = '/' + each.call->service()->full_name() + '/' + each.call->name();
      const std::string request = requestOf(each, jobFor(each))->SerializeAsString();
      const grpc::Status status = call(stubOf(attacker, member), attacker, method, request);
      EXPECT_TRUE(isRight(attacker, each, status.error_code()))
          << said(attacker, each) << ": " << status.error_code() << ' ' << status.error_message();
      ++num_attempts_;
    }
  }

  // Calls that only read are made with HEAD, too.
  void attackByHttp(const Attacker& attacker, const std::vector<Attempt>& attempts, std::size_t member) {
    std::vector<CurlRequest> requests;
    std::vector<const Attempt*> tried;
    for (const Attempt& each : attempts) {
      for (const HttpPath& path : each.paths) {
        if (!path.is_posted && each.names_alices) continue;  // it does not name them
        requests.push_back(curlRequestOf(attacker, each, path, member));
        tried.push_back(&each);
        if (path.is_posted) continue;
        requests.push_back(curlRequestOf(attacker, each, path, member));
        requests.back().method = "HEAD";
        tried.push_back(&each);
      }
    }
    const std::vector<int> codes = codesOf(requests, path("curl"));
    for (std::size_t i = 0; i < codes.size(); ++i)
      EXPECT_TRUE(isRightHttp(attacker, *tried[i], codes[i]))
          << said(attacker, *tried[i]) << ": " << requests[i].method << ' ' << requests[i].url << ": "
          << codes[i];
    num_attempts_ += codes.size();
  }

  void attackAll(std::size_t member) {
    ASSERT_FALSE(allCalls().empty());
    for (const Attacker& each : attackers_) {
      things_.make();
      const auto before = things_.state();
      const std::vector<Attempt> attempts = attemptsOf(each);
      attackByGrpc(each, attempts, member);
      if (each.known != Known::kByKey) attackByHttp(each, attempts, member);
      expectServes(member);
      if (each.role < v1::ROLE_OPERATOR) {
        EXPECT_EQ(things_.state(), before) << each.what;
      }
    }
    RecordProperty("attempts", static_cast<int>(num_attempts_));
  }

  google::protobuf::DynamicMessageFactory messages_;
  AlicesThings things_{channel("root"), channel("alice"), channelTo(server(0), hostPair("h0"))};
  std::map<std::string, std::unique_ptr<v1::Controller::Stub>> owners_;
  std::map<std::string, std::int64_t> ended_jobs_;
  std::optional<SourceRelay> relay_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::string stub_address_;
  int num_wrong_ = 0;
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
