// SPDX-License-Identifier: Apache-2.0
// Users and tokens as clients make and remove them, over a real store and the daemon's core.
#include <gmock/gmock.h>

#include "common/sys/random_name.h"
#include "popdistd/access/access.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

using ::testing::HasSubstr;

class AccessTest : public ClusterTest {
 protected:
  AccessTest() {
    is_shut_out_ = [this](const std::string& user) {
      return accounts_ && accounts_->roleOf(user) == v1::ROLE_NONE;
    };
    startAccess();
  }

  void startAccess() {
    accounts_.emplace(Accounts::Settings{.own_user = "popdistd",
                                         .admins = {"root"},
                                         .clock = [this] { return now_; },
                                         .random_name = [] { return sys::randomName(); }});
    ASSERT_TRUE(accounts_->load(*store_).ok());
    access_.emplace(Access::Parts{.loop = *loop_,
                                  .store = *store_,
                                  .commits = core_->commits(),
                                  .accounts = *accounts_,
                                  .api = *core_,
                                  .pods = core_->pods().api(),
                                  .vipu = core_->pods().vipu(),
                                  .clock = [this] { return now_; },
                                  .random_name = [] { return sys::randomName(); },
                                  .audit_file = "",
                                  .roles_changed = [this] { core_->rolesChanged(); }});
    ASSERT_TRUE(access_->start().ok());
  }
  void restart() {
    access_.reset();
    accounts_.reset();
    killDaemon();
    startDaemon();
    startAccess();
  }
  ~AccessTest() override { access_.reset(); }

  Caller as(const std::string& user) { return accounts_->identify({.unix_user = user}, {}).value(); }
  Caller by(const std::string& token) {
    const Result<Caller> caller =
        accounts_->identify({.has_tls = true, .address = "h"}, {.authorization = "Bearer " + token});
    return caller.ok() ? caller.value() : Caller();
  }
  template <typename Interface, typename Request, typename T>
  Answer<T> ask(Interface& interface, void (Interface::*method)(const Caller&, Request, Reply<T>),
                const Caller& caller, const Request& request = {}) {
    Answer<T> answer;
    (interface.*method)(caller, request, answer.reply());
    settle();
    return answer;
  }
  Answer<v1::CreateUserReply> createUser(const Caller& caller, const std::string& name, v1::Role role,
                                         bool key = false) {
    v1::CreateUserRequest request;
    request.set_name(name);
    request.set_role(role);
    request.set_vipu_key(key);
    return ask(access_->access(), &AccessApi::createUser, caller, request);
  }
  Answer<v1::CreateTokenReply> createToken(const Caller& caller, v1::Role scope = v1::ROLE_NONE,
                                           const std::string& user = {}, std::int64_t expires_s = 0) {
    v1::CreateTokenRequest request;
    request.set_scope(scope);
    request.set_user(user);
    request.set_expires_after_s(expires_s);
    return ask(access_->access(), &AccessApi::createToken, caller, request);
  }
  Code removeToken(const Caller& caller, const std::string& id) {
    v1::TokenRef token;
    token.set_id(id);
    return ask(access_->access(), &AccessApi::removeToken, caller, token).code();
  }

  std::chrono::system_clock::time_point now_{seconds(1'700'000'000)};
  std::optional<Accounts> accounts_;
  std::optional<Access> access_;
};

TEST_F(AccessTest, RolesAreKeptOverLivesOfTheDaemon) {
  EXPECT_EQ(createUser(as("alice"), "alice", v1::ROLE_ADMIN).code(), Code::kPermissionDenied);
  EXPECT_EQ(createUser(as("root"), "alice", v1::ROLE_OPERATOR).code(), Code::kOk);
  restart();
  EXPECT_EQ(as("alice").role, v1::ROLE_OPERATOR);
  v1::UserRef alice;
  alice.set_name("alice");
  EXPECT_EQ(ask(access_->access(), &AccessApi::removeUser, as("root"), alice).code(), Code::kOk);
  EXPECT_EQ(ask(access_->access(), &AccessApi::removeUser, as("root"), alice).code(), Code::kNotFound);
  EXPECT_EQ(as("alice").role, v1::ROLE_SUBMIT);
  EXPECT_EQ(createUser(as("root"), "root", v1::ROLE_VIEWER).code(), Code::kFailedPrecondition);
  EXPECT_EQ(createUser(as("root"), "a b", v1::ROLE_VIEWER).code(), Code::kInvalidArgument);
}

TEST_F(AccessTest, QuotasAreOfNamesThatUsersCanHave) {
  v1::QuotaInfo quota;
  quota.mutable_of()->set_kind(v1::QUOTA_USER);
  quota.set_running_jobs(1);
  for (const std::string& name : {std::string("nobody such"), std::string(100'000, 'a')}) {
    quota.mutable_of()->set_name(name);
    EXPECT_EQ(ask(access_->api(), &Api::setQuota, as("root"), quota).code(), Code::kInvalidArgument);
  }
  for (const char* name : {"alice", "*"}) {
    quota.mutable_of()->set_name(name);
    EXPECT_EQ(ask(access_->api(), &Api::setQuota, as("root"), quota).code(), Code::kOk);
  }
}

TEST_F(AccessTest, ATokenHasAtMostItsMakersRole) {
  EXPECT_EQ(createToken(as("alice"), v1::ROLE_OPERATOR).code(), Code::kPermissionDenied);
  const Answer<v1::CreateTokenReply> made = createToken(as("alice"));
  ASSERT_EQ(made.code(), Code::kOk) << made.words();
  EXPECT_EQ(made.value().token().scope(), v1::ROLE_SUBMIT);
  EXPECT_EQ(by(made.value().secret()).user, "alice");
  EXPECT_EQ(createToken(as("alice"), v1::ROLE_VIEWER, "bob").code(), Code::kPermissionDenied);
  EXPECT_EQ(createToken(as("root"), v1::ROLE_ADMIN, "bob").code(), Code::kPermissionDenied)
      << "nor above its user's";
  EXPECT_EQ(createToken(as("root"), v1::ROLE_VIEWER, "bob").code(), Code::kOk);
}

TEST_F(AccessTest, ATokenMakesNoTokens) {
  const std::string secret = createToken(as("root")).value().secret();
  EXPECT_EQ(by(secret).role, v1::ROLE_ADMIN);
  EXPECT_EQ(createToken(by(secret)).code(), Code::kPermissionDenied);
}

TEST_F(AccessTest, ATokenMakesNoKeys) {
  const std::string secret = createToken(as("root")).value().secret();
  EXPECT_EQ(createUser(by(secret), "bob", v1::ROLE_NONE, true).code(), Code::kPermissionDenied);
  EXPECT_EQ(createUser(by(secret), "bob", v1::ROLE_VIEWER).code(), Code::kOk);
}

TEST_F(AccessTest, AKeyIsForPartitionsOnly) {
  const v1::CreateUserReply made = createUser(as("root"), "root", v1::ROLE_NONE, true).value();
  const Caller by_key = accounts_
                            ->identify({.has_tls = true}, {.api_user_id = made.api_user_id(),
                                                           .api_access_key = made.api_access_key()})
                            .value();
  EXPECT_EQ(ask(access_->vipu(), &VipuApi::listPartitions, by_key, virmgrpc::ListPartitionsRequest()).code(),
            Code::kOk);
  v1::ClusterInfo cluster;
  cluster.set_id("pod64");
  EXPECT_EQ(ask(access_->pods(), &PodsApi::createCluster, by_key, cluster).code(), Code::kOk);
  EXPECT_EQ(ask(access_->access(), &AccessApi::listUsers, by_key, v1::ListUsersRequest()).code(),
            Code::kPermissionDenied);
  EXPECT_EQ(createUser(by_key, "mal", v1::ROLE_ADMIN).code(), Code::kPermissionDenied);
  EXPECT_EQ(createToken(by_key).code(), Code::kPermissionDenied);
  const auto submitted = ask(access_->api(), &Api::submit, by_key, requestOf());
  EXPECT_EQ(submitted.code(), Code::kPermissionDenied);
  EXPECT_THAT(submitted.words(), HasSubstr("key"));
}

TEST_F(AccessTest, TokensAreKeptAsDigestsAndSeenByTheirUsers) {
  const v1::CreateTokenReply made = createToken(as("alice")).value();
  restart();
  EXPECT_EQ(by(made.secret()).user, "alice");
  EXPECT_EQ(ask(access_->access(), &AccessApi::listTokens, as("bob"), v1::ListTokensRequest())
                .value()
                .tokens_size(),
            0);
  EXPECT_EQ(ask(access_->access(), &AccessApi::listTokens, as("root"), v1::ListTokensRequest())
                .value()
                .tokens_size(),
            1);
  EXPECT_EQ(removeToken(as("bob"), made.token().id()), Code::kNotFound);
  EXPECT_EQ(removeToken(as("alice"), made.token().id()), Code::kOk);
  EXPECT_EQ(by(made.secret()).role, v1::ROLE_NONE);
  const Result<std::vector<NamedRecord>> records = store_->records(RecordKind::kToken);
  for (const NamedRecord& each : records.value())
    EXPECT_EQ(each.bytes.find(made.secret().substr(4, 16)), std::string::npos);
}

TEST_F(AccessTest, StreamsEndWithTheirTokens) {
  const v1::CreateTokenReply made = createToken(as("alice")).value();
  const Caller caller = by(made.secret());
  bool is_told = false;
  const auto by_token = access_->api().watch(caller, {}, [&is_told] { is_told = true; }).value();
  const auto by_name = access_->api().watch(as("alice"), {}, [] {}).value();
  while (by_token->next()) {
  }
  advance(seconds(3));
  EXPECT_FALSE(by_token->ended());
  EXPECT_EQ(removeToken(as("alice"), made.token().id()), Code::kOk);
  is_told = false;
  advance(seconds(3));
  EXPECT_TRUE(is_told);
  ASSERT_TRUE(by_token->ended());
  EXPECT_EQ(by_token->ended()->code(), kUnauthenticated);
  EXPECT_FALSE(by_name->ended());
  EXPECT_EQ(ask(access_->api(), &Api::submit, caller, requestOf()).code(), kUnauthenticated)
      << "as an attached client asks on behalf of one who was known before";
}

TEST_F(AccessTest, StreamsEndWhenTheirUserMayNoMoreHaveThem) {
  const v1::CreateTokenReply made = createToken(as("root"), v1::ROLE_ADMIN).value();
  EXPECT_EQ(createUser(as("root"), "bob", v1::ROLE_OPERATOR).code(), Code::kOk);
  const Caller operates = as("bob");
  EXPECT_EQ(createUser(as("root"), "bob", v1::ROLE_VIEWER).code(), Code::kOk);
  v1::DrainRequest drain;
  drain.mutable_host()->set_name("h0");
  drain.set_reason("fan");
  EXPECT_EQ(ask(access_->api(), &Api::drain, operates, drain).code(), Code::kPermissionDenied);
  const auto stream = access_->api().watch(by(made.secret()), {}, [] {}).value();
  now_ += std::chrono::hours(31 * 24);
  advance(seconds(3));
  ASSERT_TRUE(stream->ended()) << "it has expired";
}

TEST_F(AccessTest, StreamsOfABrowserEndWhenItLogsOut) {
  const std::string secret = createToken(as("alice")).value().secret();
  const std::string session = accounts_->beginSession(secret, {.has_tls = true, .address = "h"}).value();
  const Caller caller = accounts_->identify({.has_tls = true}, {.session = session}).value();
  const auto stream = access_->api().watch(caller, {}, [] {}).value();
  advance(seconds(3));
  EXPECT_FALSE(stream->ended());
  accounts_->endSession(session);
  advance(seconds(3));
  EXPECT_TRUE(stream->ended());
}

TEST_F(AccessTest, StreamsEndWhenTheirKeyIsReplaced) {
  const auto key = [&] { return createUser(as("root"), "bob", v1::ROLE_SUBMIT, true).value(); };
  const v1::CreateUserReply old = key();
  const auto known = [&](const v1::CreateUserReply& made) {
    return accounts_->identify({.has_tls = true}, {.authorization = {},
                                                   .api_user_id = made.api_user_id(),
                                                   .api_access_key = made.api_access_key(),
                                                   .session = {}});
  };
  const Caller caller = known(old).value();
  EXPECT_TRUE(accounts_->today(caller).ok());
  const v1::CreateUserReply next = key();
  EXPECT_FALSE(known(old).ok());
  EXPECT_EQ(accounts_->today(caller).code(), kUnauthenticated);
  EXPECT_TRUE(accounts_->today(known(next).value()).ok());
}

TEST_F(AccessTest, RefusedSubmitsAreWrittenDownWithAnObject) {
  EXPECT_EQ(createUser(as("root"), "vera", v1::ROLE_VIEWER).code(), Code::kOk);
  EXPECT_EQ(ask(access_->api(), &Api::submit, as("vera"), requestOf()).code(), Code::kPermissionDenied);
  const v1::ListAuditReply audit =
      ask(access_->access(), &AccessApi::listAudit, as("root"), v1::ListAuditRequest()).value();
  ASSERT_GT(audit.entries_size(), 0);
  EXPECT_EQ(audit.entries(0).method(), "Submit");
  EXPECT_EQ(audit.entries(0).object(), "a job without a name");
}

// One that leaks takes no others along.
TEST_F(AccessTest, ATokenRemovesItselfOnly) {
  const auto first = createToken(as("alice"), v1::ROLE_VIEWER).value();
  const auto second = createToken(as("alice")).value();
  const auto third = createToken(as("alice")).value();
  EXPECT_EQ(removeToken(by(first.secret()), second.token().id()), Code::kPermissionDenied);
  EXPECT_EQ(removeToken(by(second.secret()), third.token().id()), Code::kPermissionDenied);
  EXPECT_EQ(removeToken(by(first.secret()), first.token().id()), Code::kOk);
  EXPECT_EQ(removeToken(as("alice"), second.token().id()), Code::kOk);
  EXPECT_EQ(removeToken(as("bob"), third.token().id()), Code::kNotFound);
}

TEST_F(AccessTest, AUserCanBeShutOut) {
  const auto token = createToken(as("alice")).value();
  v1::CreateUserRequest request;
  request.set_name("alice");
  request.set_shut_out(true);
  EXPECT_EQ(ask(access_->access(), &AccessApi::createUser, as("root"), request).code(), Code::kOk);
  restart();
  for (const Caller& caller : {as("alice"), by(token.secret())}) {
    EXPECT_EQ(caller.role, v1::ROLE_NONE);
    EXPECT_EQ(ask(access_->api(), &Api::about, caller).code(), Code::kPermissionDenied);
    EXPECT_EQ(ask(access_->api(), &Api::submit, caller, requestOf()).code(), Code::kPermissionDenied);
  }
  EXPECT_EQ(createUser(as("root"), "alice", v1::ROLE_NONE, true).code(), Code::kOk);
  EXPECT_EQ(as("alice").role, v1::ROLE_NONE) << "a key gives no role back";
  EXPECT_EQ(createUser(as("root"), "alice", v1::ROLE_VIEWER).code(), Code::kOk);
  EXPECT_EQ(as("alice").role, v1::ROLE_VIEWER);
  request.set_role(v1::ROLE_VIEWER);
  EXPECT_EQ(ask(access_->access(), &AccessApi::createUser, as("root"), request).code(),
            Code::kInvalidArgument);
  request.set_name("root");
  request.clear_role();
  EXPECT_EQ(ask(access_->access(), &AccessApi::createUser, as("root"), request).code(),
            Code::kFailedPrecondition);
}

TEST_F(AccessTest, QueuedJobsOfAUserWhoIsShutOutDoNotStartAndSayWhy) {
  const std::int64_t waits = submit(requestOf(1), "alice");
  const std::int64_t others = submit(requestOf(1), "bob");
  v1::CreateUserRequest request;
  request.set_name("alice");
  request.set_shut_out(true);
  ASSERT_EQ(ask(access_->access(), &AccessApi::createUser, as("root"), request).code(), Code::kOk);
  join("h0", 4);
  const std::string why =
      "user alice is shut out; popctl create user alice --role submit lets its jobs start";
  EXPECT_EQ(job(waits).state(), v1::JOB_QUEUED);
  EXPECT_EQ(job(waits).reason(), why);
  EXPECT_EQ(job(others).state(), v1::JOB_RUNNING) << "others have no part in it";
  restart();
  join("h0", 4);
  EXPECT_EQ(job(waits).state(), v1::JOB_QUEUED);
  EXPECT_EQ(job(waits).reason(), why) << "nor in the next life of the daemon";
  ASSERT_EQ(createUser(as("root"), "alice", v1::ROLE_SUBMIT).code(), Code::kOk);
  EXPECT_EQ(job(waits).state(), v1::JOB_RUNNING) << "it starts without another event";
}

TEST_F(AccessTest, AJobThatRunsGoesOnWhenItsUserIsShutOut) {
  join("h0", 4);
  const std::int64_t runs = submit(requestOf(1), "alice");
  v1::CreateUserRequest request;
  request.set_name("alice");
  request.set_shut_out(true);
  ASSERT_EQ(ask(access_->access(), &AccessApi::createUser, as("root"), request).code(), Code::kOk);
  EXPECT_EQ(job(runs).state(), v1::JOB_RUNNING);
}

TEST_F(AccessTest, TokensExpire) {
  EXPECT_EQ(createToken(as("alice"), v1::ROLE_NONE, "", 367 * 24 * 3600).code(), Code::kInvalidArgument);
  EXPECT_EQ(createToken(as("alice"), v1::ROLE_NONE, "", -1).code(), Code::kInvalidArgument);
  const v1::CreateTokenReply made = createToken(as("alice")).value();
  EXPECT_EQ(made.token().expires().seconds() - made.token().created().seconds(), 30 * 24 * 3600);
  now_ += std::chrono::hours(31 * 24);
  EXPECT_EQ(by(made.secret()).role, v1::ROLE_NONE);
  now_ += std::chrono::hours(7 * 24);
  createToken(as("alice"));
  EXPECT_EQ(accounts_->tokens().size(), 1U) << "an old one goes";
}

TEST_F(AccessTest, AUserHasAHundredTokensAtMost) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(createToken(as("alice")).code(), Code::kOk);
  EXPECT_EQ(createToken(as("alice")).code(), Code::kResourceExhausted);
  EXPECT_EQ(createToken(as("bob")).code(), Code::kOk);
}

TEST_F(AccessTest, RemovingAUserEndsItsTokensAndItsKey) {
  const v1::CreateUserReply made = createUser(as("root"), "alice", v1::ROLE_NONE, true).value();
  const Credentials key{.api_user_id = made.api_user_id(), .api_access_key = made.api_access_key()};
  EXPECT_EQ(accounts_->identify({.has_tls = true}, key).value().user, "alice");
  const std::string token = createToken(as("alice")).value().secret();
  v1::UserRef alice;
  alice.set_name("alice");
  EXPECT_EQ(ask(access_->access(), &AccessApi::removeUser, as("root"), alice).code(), Code::kOk);
  EXPECT_EQ(by(token).role, v1::ROLE_NONE);
  EXPECT_FALSE(accounts_->identify({.has_tls = true}, key).ok());
}

TEST_F(AccessTest, WhatIsDoneToJobsAndUsersIsInTheAuditLog) {
  const auto submitted = ask(access_->api(), &Api::submit, as("alice"), requestOf());
  ASSERT_EQ(submitted.code(), Code::kOk);
  const std::string job = "job " + std::to_string(submitted.value().job().id());
  v1::CancelRequest cancel;
  *cancel.mutable_job() =
      submitted.value().job().id() == 0 ? v1::JobRef() : ref(submitted.value().job().id());
  EXPECT_EQ(ask(access_->api(), &Api::cancel, as("bob"), cancel).code(), Code::kPermissionDenied);
  EXPECT_EQ(ask(access_->api(), &Api::cancel, as("alice"), cancel).code(), Code::kOk);
  createToken(as("alice"));
  restart();
  const v1::ListAuditReply audit =
      ask(access_->access(), &AccessApi::listAudit, as("root"), v1::ListAuditRequest()).value();
  ASSERT_EQ(audit.entries_size(), 4);
  EXPECT_EQ(audit.entries(3).method(), "Submit");
  EXPECT_EQ(audit.entries(3).object(), job);
  EXPECT_EQ(audit.entries(2).user(), "bob");
  EXPECT_EQ(audit.entries(2).code(), static_cast<int>(Code::kPermissionDenied));
  EXPECT_EQ(audit.entries(1).object(), job);
  EXPECT_EQ(audit.entries(0).method(), "CreateToken");
  EXPECT_EQ(ask(access_->access(), &AccessApi::checkAudit, as("root"), v1::Nothing()).value().broken(), "");
  EXPECT_EQ(ask(access_->access(), &AccessApi::listAudit, as("alice"), v1::ListAuditRequest()).code(),
            Code::kPermissionDenied);
}

TEST_F(AccessTest, NobodySeesTheVariablesOfAJob) {
  v1::SubmitRequest request = requestOf();
  v1::Variable& secret = *request.mutable_spec()->add_environment();
  secret.set_name("PASSWORD");
  secret.set_value("hunter2");
  EXPECT_EQ(ask(access_->api(), &Api::submit, as("alice"), request).code(), Code::kOk);
  for (const char* user : {"alice", "bob", "root"}) {
    const auto list = ask(access_->api(), &Api::list, as(user), v1::ListJobsRequest());
    EXPECT_EQ(list.value().jobs_size(), 1);
    EXPECT_EQ(list.value().SerializeAsString().find("hunter2"), std::string::npos) << user;
  }
}

}  // namespace
}  // namespace pop::popdistd::testing
