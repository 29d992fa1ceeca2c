// SPDX-License-Identifier: Apache-2.0
// The daemon's answers over HTTP.
#include <gmock/gmock.h>

#include "popdistd/api/unary_methods.h"
#include "tests/unit/popdistd/web/web_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RoutesTest : public WebTest {
 protected:
  RoutesTest() { serve(); }

  std::vector<std::string> calls() {
    return loop.run([this] { return api.calls; });
  }
};

TEST_F(RoutesTest, CarryEachMethodWithOneAnswer) {
  forEachUnaryMethod([this](const std::string& name, auto) {
    EXPECT_THAT(post(name, "{}"), StartsWith("HTTP/1.1 200 OK")) << name;
    EXPECT_THAT(ask("GET", "/v1/" + name), AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: POST")))
        << name;
  });
  EXPECT_EQ(calls().size(), 19U);
}

TEST_F(RoutesTest, CarryThoseOfPods) {
  forEachUnaryPodsMethod([this](const std::string& name, auto) {
    EXPECT_THAT(post(name, "{}"), StartsWith("HTTP/1.1 200 OK")) << name;
    EXPECT_THAT(ask("GET", "/v1/" + name), StartsWith("HTTP/1.1 405")) << name;
  });
  EXPECT_EQ(loop.run([this] { return pods.calls; }).size(), 13U);
  EXPECT_THAT(post("CreateCluster", R"({"id": "pod64", "topology": "ILD_TORUS"})"),
              AllOf(HasSubstr(R"("id":"pod64")"), HasSubstr(R"("topology":"ILD_TORUS")")));
  EXPECT_THAT(post("CreateCluster", R"({"topology": "round"})"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(post("HoldPartition", "{}"), StartsWith("HTTP/1.1 404")) << "a stream";
}

TEST_F(RoutesTest, ListPartitions) {
  EXPECT_THAT(ask("GET", "/v1/partitions?allocation=team%20a&owner=alice"),
              AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr(R"("id":"p16")"),
                    HasSubstr(R"("allocation":"team a")"), HasSubstr(R"("owner":"alice")"),
                    HasSubstr(R"("state":"PARTITION_ACTIVE")"), HasSubstr(R"("revision":"12")")));
  loop.run([this] { pods.refusal = Status(Code::kNotFound, "there is no allocation 'x'"); });
  EXPECT_THAT(ask("GET", "/v1/partitions?allocation=x"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there is no allocation")));
}

TEST_F(RoutesTest, DrawAPartition) {
  EXPECT_THAT(ask("GET", "/v1/partitions/p16/topology.svg"),
              AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("Content-Type: image/svg+xml"),
                    HasSubstr("Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'"),
                    HasSubstr("<title>p16</title>"),
                    HasSubstr("16 IPUs in 1 IPU-Link domain, 4 replicas of 4 IPUs")));
  EXPECT_THAT(ask("GET", "/v1/partitions/p%3C17/topology.svg"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there is no partition 'p<17' that you may see")));
  EXPECT_THAT(ask("GET", "/v1/partitions/p16/other.svg"), StartsWith("HTTP/1.1 404"));
  loop.run([this] { pods.refusal = Status(Code::kPermissionDenied, "not you"); });
  EXPECT_THAT(ask("GET", "/v1/partitions/p16/topology.svg"), StartsWith("HTTP/1.1 403"));
}

TEST_F(RoutesTest, ReadAndWriteTheMessagesAsJson) {
  EXPECT_THAT(
      post("Submit", R"({"name": "train", "num_hosts": 2, "spec": {"variables": {"A": "b"},
                                 "programs": [{"words": ["ls"]}]}})"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: application/json"), HasSubstr(R"("id":"7")"),
            HasSubstr(R"("state":"JOB_RUNNING")"), HasSubstr(R"("repeated_request":false)"),
            HasSubstr(R"("submitted":"2023-11-14T22:13:20Z")")));
  loop.run([this] {
    EXPECT_EQ(api.submitted.num_hosts(), 2);
    EXPECT_EQ(api.submitted.spec().programs(0).words(0), "ls");
    EXPECT_EQ(api.submitted.spec().variables().at("A"), "b");
  });
}

TEST_F(RoutesTest, NameWhatIsWrongWithJson) {
  EXPECT_THAT(post("Submit", R"({"nmae": "train"})"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr(R"("code":3)"), HasSubstr("nmae")));
  EXPECT_THAT(post("Submit", R"({"spec": {"num_replicas": "many"}})"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("num_replicas")));
  for (const std::string json : {"{", "[]", "null", "\xff", R"({"name": "\ud800"})", "{\"name\": \"\xc3\"}"})
    EXPECT_THAT(post("Submit", json), StartsWith("HTTP/1.1 4")) << json;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"spec":)";
  EXPECT_THAT(post("Submit", deep), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(RoutesTest, PassErrorsOnWithTheirStatus) {
  const std::pair<Code, const char*> all[] = {
      {Code::kInvalidArgument, "400"}, {Code::kPermissionDenied, "403"},   {Code::kNotFound, "404"},
      {Code::kAlreadyExists, "409"},   {Code::kFailedPrecondition, "409"}, {Code::kResourceExhausted, "429"},
      {Code::kInternal, "500"},        {Code::kUnavailable, "503"},
  };
  for (const auto& [code, status] : all) {
    loop.run([this, c = code] { api.refusal = Status(c, "it is \"so\""); });
    EXPECT_THAT(post("Get", "{}"),
                AllOf(StartsWith(std::string("HTTP/1.1 ") + status),
                      HasSubstr("{\"code\":" + std::to_string(static_cast<int>(code)) + ','),
                      HasSubstr(R"("message":"it is \"so\"")")));
  }
}

TEST_F(RoutesTest, AListOfHostsIsWhole) {
  loop.run([this] { api.pages_of_hosts = 3; });
  const std::string answer = ask("GET", "/v1/hosts");
  for (const char* const host : {R"("name":"h0")", R"("name":"h1")", R"("name":"h2")"})
    EXPECT_THAT(answer, HasSubstr(host));
  EXPECT_THAT(answer, AllOf(HasSubstr(R"("revision":"7")"), HasSubstr(R"("next_page_token":"")")));
}

TEST_F(RoutesTest, HaveShortFormsForReading) {
  EXPECT_THAT(ask("GET", "/v1/jobs?user=al%20ice+b&state=JOB_QUEUED&page_size=3"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr(R"("next_page_token":"more")")));
  EXPECT_THAT(ask("GET", "/v1/jobs/12"), HasSubstr(R"("id":"12")"));
  EXPECT_THAT(ask("GET", "/v1/jobs/train"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask("GET", "/v1/hosts"), HasSubstr(R"("name":"h0")"));
  EXPECT_THAT(calls(), ElementsAre("me list al ice b", "me get job 12", "me get job train", "me listHosts"));
  EXPECT_THAT(ask("GET", "/v1/counts"), HasSubstr(R"("jobs":"3")"));
  for (const std::string list : {"clusters", "agents", "allocations"})
    EXPECT_THAT(ask("GET", "/v1/" + list), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr(list)));
  EXPECT_THAT(ask("GET", "/v1/jobs?state=JOB_LAZY"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("JOB_LAZY")));
  EXPECT_THAT(ask("GET", "/v1/jobs?page_size=-1"), StartsWith("HTTP/1.1 400"));
}

TEST_F(RoutesTest, ChooseJobs) {
  EXPECT_THAT(ask("GET", "/v1/jobs?state=JOB_QUEUED,JOB_HELD&end=END_LOST&text=night%20run&brief=1"),
              StartsWith("HTTP/1.1 200"));
  loop.run([this] {
    EXPECT_THAT(api.listed.states(), ElementsAre(v1::JOB_QUEUED, v1::JOB_HELD));
    EXPECT_THAT(api.listed.ends(), ElementsAre(v1::END_LOST));
    EXPECT_EQ(api.listed.text(), "night run");
    EXPECT_TRUE(api.listed.brief());
  });
  EXPECT_THAT(ask("GET", "/v1/jobs?end=END_WELL"), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("END_WELL")));
  EXPECT_THAT(ask("GET", "/v1/jobs?brief=maybe"), StartsWith("HTTP/1.1 400"));
}

TEST_F(RoutesTest, SayWhereThereIsNothing) {
  for (const std::string path :
       {"/v1", "/v1/", "/assets/", "/v1/jobs/", "/v1/jobs/1/2", "/v1/nothing", "/v1/jobs/%zz"})
    EXPECT_THAT(ask("GET", path), StartsWith("HTTP/1.1 404")) << path;
  EXPECT_THAT(post("Nothing", "{}"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask("DELETE", "/v1/jobs/1"), AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: ")));
  EXPECT_THAT(ask("OPTIONS", "/v1/jobs"),
              AllOf(StartsWith("HTTP/1.1 204"), HasSubstr("Allow: GET"), Not(HasSubstr("Access-Control"))));
}

TEST_F(RoutesTest, ForHeadHaveNoBody) {
  EXPECT_THAT(ask("HEAD", "/healthz"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Length: 3\r\n"),
                                             ::testing::EndsWith("\r\n\r\n")));
  EXPECT_THAT(ask("HEAD", "/v1/watch"), AllOf(StartsWith("HTTP/1.1 200"), ::testing::EndsWith("\r\n\r\n")));
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(RoutesTest, ForHeadAreRefusedAsForGet) {
  loop.run([this] { api.refusal = Status(Code::kPermissionDenied, "not for you"); });
  for (const std::string path : {"/v1/watch", "/v1/jobs/1/log", "/v1/jobs/1/records"})
    EXPECT_THAT(ask("HEAD", path), StartsWith("HTTP/1.1 403")) << path;
}

TEST_F(RoutesTest, HaveHealthAndMetrics) {
  EXPECT_THAT(ask("GET", "/healthz"), ::testing::EndsWith("\r\n\r\nok\n"));
  EXPECT_THAT(ask("GET", "/metrics"), AllOf(HasSubstr("version=0.0.4"), HasSubstr("popdist_up 1\nteam")));
}

TEST_F(RoutesTest, AreNotForPagesOfOtherSites) {
  EXPECT_THAT(ask("POST", "/v1/Submit", "{}", "Content-Type: text/plain\r\n"), StartsWith("HTTP/1.1 415"));
  EXPECT_THAT(ask("POST", "/v1/Submit", "{}", ""), StartsWith("HTTP/1.1 415"));
  for (const std::string host : {"evil.example", "evil.example:8091", "127.0.0.1.evil.example", ""}) {
    RawClient client(port);
    client.say("GET /v1/jobs HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 421")) << host;
  }
  for (const std::string host : {"localhost", "127.0.0.1:8091", "[::1]:8091", "[::1]"}) {
    RawClient client(port);
    client.say("GET /v1/jobs HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 200")) << host;
  }
  EXPECT_THAT(ask("GET", "/healthz"),
              AllOf(HasSubstr("nosniff"), HasSubstr("Content-Security-Policy: default-src 'none'")));
}

TEST_F(RoutesTest, WaitForAJobAsLongAsTheClient) {
  {
    RawClient client(port);
    client.say(request("POST", "/v1/Wait", R"({"id": 7})", "Content-Type: application/json\r\n"));
    ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  }
  EXPECT_TRUE(hasNoReaders());
  RawClient client(port);
  client.say(request("POST", "/v1/Wait", R"({"id": 7})", "Content-Type: application/json\r\n"));
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  loop.run([this] {
    v1::Change change;
    change.mutable_job()->set_state(v1::JOB_ENDED);
    change.mutable_job()->set_reason("it is done");
    api.changes.push(change);
  });
  EXPECT_THAT(client.hear("it is done"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace pop::popdistd
