// SPDX-License-Identifier: Apache-2.0
// The table of who may what, and the guard that applies it in front of the daemon.
#include "popdistd/access/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "popdistd/access/guarded_access.h"
#include "popdistd/access/guarded_api.h"
#include "popdistd/access/guarded_pods.h"
#include "popdistd/api/unary_methods.h"
#include "tests/testing/fake_api.h"
#include "tests/testing/fake_pods_api.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct FakeAudit final : Audit {
  std::vector<std::string> lines;
  std::vector<std::function<void(const Status&)>> waiting;

  void write(const Caller& caller, std::string_view method, const std::string& object,
             const Status& outcome) override {
    lines.push_back(caller.user + ' ' + std::string(method) + ' ' + object + ' ' +
                    std::to_string(static_cast<int>(outcome.code())));
  }
  void whenDurable(std::function<void(const Status&)> done) override { waiting.push_back(std::move(done)); }

  void settle(const Status& status = {}) {
    for (const auto& done : std::exchange(waiting, {})) done(status);
  }
};

class WhoMayWhat : public ::testing::Test {
 protected:
  WhoMayWhat() { jobs.owner = "alice"; }

  static Caller as(v1::Role role, const std::string& user = "bob") { return {.user = user, .role = role}; }

  /// The code of the answer, once all is durable; nothing: there was none.
  template <typename Interface, typename Request, typename T>
  std::optional<Code> ask(Interface& interface, void (Interface::*method)(const Caller&, Request, Reply<T>),
                          const Caller& caller, const Request& request = {}) {
    const auto code = std::make_shared<std::optional<Code>>();
    (interface.*method)(caller, request, [code](const Result<T>& result) {
      ASSERT_FALSE(code->has_value()) << "answered twice";
      *code = result.code();
    });
    audit.settle();
    return *code;
  }

  static v1::JobRef job(std::int64_t id) {
    v1::JobRef ref;
    ref.set_id(id);
    return ref;
  }
  Code logsOf(const Caller& caller) {
    v1::LogsRequest request;
    *request.mutable_job() = job(7);
    return guarded.logs(caller, request, [] {}).code();
  }

  FakeAudit audit;
  pop::testing::FakeApi jobs;
  GuardedApi guarded{jobs, audit};
  Api& api = guarded;
  pop::testing::FakePodsApi pods;
  GuardedPods guarded_pods{pods, audit};
};

TEST_F(WhoMayWhat, HasARowForEachCall) {
  std::set<std::string> names{"Watch", "Logs", "Backup", "HoldPartition"};
  const auto note = [&names](const char* name, auto) { names.insert(name); };
  forEachUnaryMethod(note);
  forEachUnaryPodsMethod(note);
  forEachUnaryAccessMethod(note);
  for (const std::string& name : names) EXPECT_EQ(ruleOf(name).method, name);
  for (const Rule& rule : policy()) {
    const Rule& first = ruleOf(rule.method);  // ListPartitions is V-IPU's, too
    EXPECT_EQ(std::tie(rule.least, rule.others, rule.is_audited, rule.is_for_keys),
              std::tie(first.least, first.others, first.is_audited, first.is_for_keys))
        << rule.method << " means the same everywhere";
    EXPECT_GE(rule.others, rule.least) << rule.method;
    EXPECT_GT(rule.least, v1::ROLE_NONE) << rule.method;
  }
}

TEST_F(WhoMayWhat, AMethodInNoRowIsForAdmins) {
  EXPECT_EQ(ruleOf("Invent").least, v1::ROLE_ADMIN);
  EXPECT_TRUE(ruleOf("Invent").is_audited);
}

TEST_F(WhoMayWhat, NobodyReachesAnythingWithoutARole) {
  for (const Rule& rule : policy()) EXPECT_FALSE(checkMay(as(v1::ROLE_NONE), rule).ok()) << rule.method;
  forEachUnaryMethod([this](const char* name, auto method) {
    EXPECT_EQ(ask(api, method, as(v1::ROLE_NONE)), Code::kPermissionDenied) << name;
  });
  EXPECT_THAT(jobs.calls, IsEmpty());
}

TEST_F(WhoMayWhat, AViewerSeesAndChangesNothing) {
  EXPECT_EQ(ask(api, &Api::list, as(v1::ROLE_VIEWER)), Code::kOk);
  EXPECT_EQ(ask(api, &Api::getHost, as(v1::ROLE_VIEWER)), Code::kOk);
  EXPECT_EQ(ask(api, &Api::submit, as(v1::ROLE_VIEWER, "alice")), Code::kPermissionDenied);
  EXPECT_EQ(ask(api, &Api::hold, as(v1::ROLE_VIEWER, "alice"), job(7)), Code::kPermissionDenied)
      << "not even of an own job";
  for (const Rule& rule : policy()) {
    if (rule.least > v1::ROLE_VIEWER || !rule.is_audited) continue;
    EXPECT_THAT(std::string(rule.method), HasSubstr("Token")) << "a viewer changes own tokens only";
  }
}

TEST_F(WhoMayWhat, AUserControlsOwnJobsOnly) {
  v1::CancelRequest cancel;
  *cancel.mutable_job() = job(7);
  EXPECT_EQ(ask(api, &Api::cancel, as(v1::ROLE_SUBMIT, "alice"), cancel), Code::kOk);
  jobs.calls.clear();
  EXPECT_EQ(ask(api, &Api::cancel, as(v1::ROLE_SUBMIT), cancel), Code::kPermissionDenied);
  EXPECT_EQ(ask(api, &Api::hold, as(v1::ROLE_SUBMIT), job(7)), Code::kPermissionDenied);
  EXPECT_EQ(ask(api, &Api::release, as(v1::ROLE_SUBMIT), job(7)), Code::kPermissionDenied);
  EXPECT_EQ(ask(api, &Api::forget, as(v1::ROLE_SUBMIT), job(7)), Code::kPermissionDenied);
  EXPECT_EQ(logsOf(as(v1::ROLE_SUBMIT)), Code::kPermissionDenied);
  EXPECT_EQ(logsOf(as(v1::ROLE_VIEWER, "alice")), Code::kOk);
  for (const std::string& call : jobs.calls) EXPECT_THAT(call, HasSubstr(" get ")) << "only whose it is";
}

TEST_F(WhoMayWhat, AnOperatorControlsAllJobsAndDrains) {
  EXPECT_EQ(ask(api, &Api::hold, as(v1::ROLE_OPERATOR), job(7)), Code::kOk);
  EXPECT_EQ(logsOf(as(v1::ROLE_OPERATOR)), Code::kOk);
  EXPECT_EQ(ask(api, &Api::drain, as(v1::ROLE_OPERATOR)), Code::kOk);
  EXPECT_EQ(ask(api, &Api::removeHost, as(v1::ROLE_OPERATOR)), Code::kPermissionDenied);
  EXPECT_EQ(ask<PodsApi>(guarded_pods, &PodsApi::createCluster, as(v1::ROLE_OPERATOR)),
            Code::kPermissionDenied);
  EXPECT_EQ(ask(api, &Api::removeHost, as(v1::ROLE_ADMIN)), Code::kOk);
  EXPECT_EQ(ask<PodsApi>(guarded_pods, &PodsApi::createCluster, as(v1::ROLE_ADMIN)), Code::kOk);
}

TEST_F(WhoMayWhat, WhatChangesSomethingIsWrittenDownAlsoWhenItIsRefused) {
  v1::DrainRequest drain;
  drain.mutable_host()->set_name("h0");
  ask(api, &Api::drain, as(v1::ROLE_SUBMIT), drain);
  ask(api, &Api::drain, as(v1::ROLE_OPERATOR), drain);
  ask(api, &Api::hold, as(v1::ROLE_SUBMIT), job(7));
  ask(api, &Api::list, as(v1::ROLE_SUBMIT));
  EXPECT_THAT(audit.lines, ElementsAre("bob Drain host h0 7", "bob Drain host h0 0", "bob Hold job 7 7"));
}

TEST_F(WhoMayWhat, ASubmitIsWrittenDownByTheNumberOfItsJob) {
  EXPECT_EQ(ask(api, &Api::submit, as(v1::ROLE_SUBMIT, "alice")), Code::kOk);
  EXPECT_EQ(ask(api, &Api::submit, as(v1::ROLE_VIEWER)), Code::kPermissionDenied);
  EXPECT_THAT(jobs.calls, ElementsAre("alice submit a job without a name")) << "nothing is looked for";
  EXPECT_THAT(audit.lines, ElementsAre("alice Submit job 7 0", "bob Submit a job without a name 7"));
}

TEST_F(WhoMayWhat, NothingIsAnsweredBeforeItIsWrittenDown) {
  std::optional<Code> code;
  const auto reply = [&code](const Result<v1::JobInfo>& info) { code = info.code(); };
  api.hold(as(v1::ROLE_ADMIN), job(7), reply);
  EXPECT_EQ(code, std::nullopt);
  audit.settle(Status(Code::kResourceExhausted, "the disk is full"));
  EXPECT_EQ(code, Code::kResourceExhausted);
}

TEST_F(WhoMayWhat, NorIsARefusal) {
  std::optional<Code> code;
  const auto reply = [&code](const Result<v1::JobInfo>& info) { code = info.code(); };
  for (const Caller& caller : {as(v1::ROLE_VIEWER), as(v1::ROLE_SUBMIT)}) {
    api.hold(caller, job(7), reply);
    EXPECT_EQ(code, std::nullopt);
    audit.settle();
    EXPECT_EQ(std::exchange(code, std::nullopt), Code::kPermissionDenied);
  }
  api.hold(as(v1::ROLE_VIEWER), job(7), reply);
  audit.settle(unavailable("the disk is full"));
  EXPECT_EQ(code, Code::kUnavailable);
  bool is_told = false;
  const auto source =
      guarded_pods.holdPartition(as(v1::ROLE_VIEWER), {}, [&is_told] { is_told = true; }).value();
  EXPECT_EQ(source->ended(), std::nullopt);
  audit.settle();
  EXPECT_TRUE(is_told);
  EXPECT_EQ(source->ended()->code(), Code::kPermissionDenied);
}

TEST_F(WhoMayWhat, AStreamBeginsWhenThatIsWrittenDown) {
  int told = 0;
  const auto hold = guarded_pods.holdPartition(as(v1::ROLE_SUBMIT), {}, [&told] { ++told; }).value();
  pods.holds.push({});
  told = 0;
  EXPECT_FALSE(hold->next().has_value());
  EXPECT_FALSE(hold->ended().has_value());
  audit.settle();
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(hold->next().has_value());
  const auto lost = guarded_pods.holdPartition(as(v1::ROLE_SUBMIT), {}, [] {}).value();
  audit.settle(Status(Code::kResourceExhausted, "the disk is full"));
  EXPECT_FALSE(lost->next().has_value());
  EXPECT_EQ(lost->ended().value_or(Status()).code(), Code::kResourceExhausted);
  guarded_pods.holdPartition(as(v1::ROLE_SUBMIT), {}, [] {}).value().reset();
  audit.settle();  // it has no reader any more
}

TEST_F(WhoMayWhat, AJobIsActedOnByItsNumber) {
  v1::JobRef by_name;
  by_name.set_name("train");
  ask(api, &Api::hold, as(v1::ROLE_SUBMIT, "alice"), by_name);
  EXPECT_THAT(jobs.calls, ElementsAre("alice get job train", "alice hold job 7"))
      << "a newer job of the name may have come meanwhile";
}

}  // namespace
}  // namespace pop::popdistd
