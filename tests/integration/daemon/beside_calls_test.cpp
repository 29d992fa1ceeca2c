// SPDX-License-Identifier: Apache-2.0
// Answers of popdistd beside the calls of its table: metrics, logins, health, reflection, and hosts that
// join; by every kind of attacker, at the popdistd that leads and at one that follows.
#include "proto/popdist/v1/host.grpc.pb.h"
#include "tests/integration/daemon/attackers.h"
#include "tests/integration/daemon/curl_requests.h"
#include "tests/integration/daemon/host_join.h"

namespace pop::testing {
namespace {

class BesideCalls : public Attackers {
 protected:
  static bool isSomebody(const Attacker& attacker) {
    return attacker.known == Known::kAsUser || attacker.known == Known::kByToken;
  }

  static std::string joins(const std::string& host) {
    v1::HostReport report;
    report.mutable_joins()->set_name(host);
    return report.SerializeAsString();
  }

  void attackByGrpc(const Attacker& attacker, std::size_t member) {
    grpc::GenericStub stub(channelTo(server(member), attacker.pair));
    const auto expect = [&](const std::string& method, const std::string& request, grpc::StatusCode code) {
      const grpc::Status status = call(stub, attacker, method, request);
      EXPECT_EQ(status.error_code(), code)
          << attacker.what << " at " << method << ": " << status.error_message();
    };
    const bool is_refused = attacker.known == Known::kNotByTls;
    for (const std::string host : {"h0", "h1"}) {
      if (attacker.known == Known::kAsHost && host == "h0") continue;
      expect("/popdist.v1.Hosts/Join", joins(host),
             is_refused                      ? grpc::StatusCode::UNAVAILABLE
             : attacker.pair.key_pem.empty() ? grpc::StatusCode::UNAUTHENTICATED
                                             : grpc::StatusCode::PERMISSION_DENIED);
    }
    expect("/grpc.health.v1.Health/Check", "",
           is_refused ? grpc::StatusCode::UNAVAILABLE : grpc::StatusCode::OK);
    // A request for the list of services: field 7, empty.
    expect("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", std::string("\x3a\x00", 2),
           is_refused                      ? grpc::StatusCode::UNAVAILABLE
           : attacker.pair.key_pem.empty() ? grpc::StatusCode::UNAUTHENTICATED
                                           : grpc::StatusCode::OK);
  }

  void attackByHttp(const Attacker& attacker, std::size_t member) {
    struct Try {
      std::string method;
      std::string path;
      std::string body;
      int code;
    };
    const bool is_somebody = isSomebody(attacker);
    const int metrics = !is_somebody ? 401 : attacker.role < v1::ROLE_VIEWER ? 403 : 200;
    const std::vector<Try> tries{
        {"GET", "/metrics", "", metrics},
        {"HEAD", "/metrics", "", metrics},
        {"GET", "/healthz", "", 200},
        {"POST", "/login", R"({"token":")" + attacker.token + "\"}",
         attacker.known == Known::kByToken ? 200 : 401},
        {"POST", "/logout", "{}", is_somebody ? 200 : 401},
    };
    std::vector<CurlRequest> requests;
    for (const Try& each : tries)
      requests.push_back({.method = each.method,
                          .url = url(member, each.path),
                          .body = each.body,
                          .options = curlOptions(attacker),
                          .headers = curlHeaders(attacker)});
    const std::vector<int> codes = codesOf(requests, path("curl"));
    for (std::size_t i = 0; i < codes.size(); ++i)
      EXPECT_EQ(codes[i], attacker.known == Known::kNotByTls ? 0 : tries[i].code)
          << attacker.what << " at " << tries[i].method << ' ' << tries[i].path;
  }

  void attackAll(std::size_t member) {
    for (const Attacker& each : attackers_) {
      attackByGrpc(each, member);
      // Else its refusal as another host means nothing.
      if (each.known == Known::kAsHost) {
        EXPECT_TRUE(joinsOnce(*v1::Hosts::NewStub(channelTo(server(member), each.pair)), "h0"));
      }
      if (each.known != Known::kByKey) attackByHttp(each, member);
      expectServes(member);
    }
  }
};

TEST_F(BesideCalls, AreAnsweredToThoseWhomTheyAreFor) {
  attackAll(0);
}

TEST_F(BesideCalls, AreAnsweredToThoseWhomTheyAreForByAPopdistdThatFollows) {
  attackAll(1);
}

}  // namespace
}  // namespace pop::testing
