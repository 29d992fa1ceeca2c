// SPDX-License-Identifier: Apache-2.0
// A daemon's core over a real store, and hosts that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/jobs/daemon_core.h"
#include "popdistd/store/sqlite_store.h"
#include "tests/testing/fake_loop.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/popdistd/jobs/fake_host.h"

namespace pop::popdistd::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The answer to a call: none yet, or a value, or why not.
template <typename T>
struct Answer {
  std::shared_ptr<std::optional<Result<T>>> result = std::make_shared<std::optional<Result<T>>>();

  Reply<T> reply() {
    return [result = result](Result<T> value) { result->emplace(std::move(value)); };
  }
  bool there() const { return result->has_value(); }
  Code code() const { return there() ? (*result)->code() : Code::kUnknown; }
  std::string words() const { return there() ? (*result)->status().message() : "no answer"; }
  const T& value() const { return static_cast<const Result<T>&>(**result).value(); }
};

inline v1::SubmitRequest requestOf(int num_instances = 1) {
  v1::SubmitRequest request;
  v1::Program& program = *request.mutable_spec()->add_programs();
  program.add_command("train");
  program.set_num_instances(num_instances);
  return request;
}

class Cluster {
 protected:
  void startDaemon() {
    Result<std::unique_ptr<SqliteStore>> opened = SqliteStore::open(directory_.path() + "/state");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    startDaemon(std::move(*opened));
  }
  void startDaemon(std::unique_ptr<Store> store) {
    store_ = std::move(store);
    startCore();
  }

  void startCore() {
    Result<std::unique_ptr<DaemonCore>> started = DaemonCore::start(
        *loop_, *store_,
        {.clock =
             [this] {
               return wall_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(
                                  loop_->now().time_since_epoch());
             },
         .random_name = [this] { return "name" + std::to_string(++names_); },
         .version = "0.1.0",
         .is_admin = [](const std::string& user) { return user == "root"; },
         .is_shut_out = [this](const std::string& user) { return is_shut_out_ && is_shut_out_(user); },
         .issue = [](const v1::JobRecord& job) -> Result<v1::JobCredentials> {
           v1::JobCredentials credentials;
           credentials.set_certificate_pem("of " + job.agent_job_id() + " of " + job.info().user());
           return credentials;
         },
         .host_rules = host_rules_,
         .retention = retention_,
         .pods = pod_settings_,
         .queue = queue_rules_,
         .vipu_server = {.host = "d0", .port = 8090},
         .warn = [this](const std::string& line) { warnings_.push_back(line); },
         .audit = [this](const std::string& line) { audit_.push_back(line); }});
    ASSERT_TRUE(started.ok()) << started.status().message();
    core_ = std::move(*started);
  }

  /// kill -9: what is not committed is gone, and all connections are.
  void killDaemon() {
    for (auto& [name, host] : hosts_) host.loseConnection(false);
    core_ = nullptr;
    store_ = nullptr;
    auto fresh = std::make_unique<pop::testing::FakeLoop>();
    wall_ += std::chrono::duration_cast<std::chrono::system_clock::duration>(loop_->now() - fresh->now());
    loop_ = std::move(fresh);
  }

  FakeHost& join(const std::string& name, int slots = 4) {
    FakeHost& host = hosts_.try_emplace(name, name, slots).first->second;
    EXPECT_TRUE(host.join(*core_).ok());
    settle();
    return host;
  }

  /// Until nobody has anything to do any more.
  void settle() {
    bool again = true;
    while (again) {
      loop_->runPosted();
      again = false;
      for (auto& [name, host] : hosts_) again = host.pump() || again;
    }
    loop_->runPosted();
  }

  /// Time passes, with heartbeats.
  void advance(milliseconds time) {
    for (milliseconds step{0}; step < time; step += seconds(1)) {
      loop_->advance(std::min<milliseconds>(seconds(1), time));
      for (auto& [name, host] : hosts_) {
        if (host.isJoined()) host.heartbeat();
      }
      settle();
    }
  }

  Answer<v1::SubmitReply> trySubmit(const v1::SubmitRequest& request, const std::string& user = "alice") {
    return trySubmit(request, callerOf(user));
  }
  Answer<v1::SubmitReply> trySubmit(const v1::SubmitRequest& request, const Caller& caller) {
    Answer<v1::SubmitReply> answer;
    core_->submit(caller, request, answer.reply());
    settle();
    return answer;
  }
  std::int64_t submit(const v1::SubmitRequest& request, const std::string& user = "alice") {
    const Answer<v1::SubmitReply> answer = trySubmit(request, user);
    EXPECT_EQ(answer.code(), Code::kOk) << answer.words();
    return answer.code() == Code::kOk ? answer.value().job().id() : 0;
  }

  /// As the guard in front of the core would have it.
  static Caller callerOf(const std::string& user, const std::string& peer = {}) {
    return {.user = user, .peer = peer, .role = user == "root" ? v1::ROLE_ADMIN : v1::ROLE_SUBMIT};
  }

  static v1::JobRef ref(std::int64_t job) {
    v1::JobRef ref;
    ref.set_id(job);
    return ref;
  }

  v1::JobInfo job(std::int64_t id) {
    Answer<v1::JobInfo> answer;
    core_->get({"alice", ""}, ref(id), answer.reply());
    EXPECT_EQ(answer.code(), Code::kOk) << answer.words();
    return answer.code() == Code::kOk ? answer.value() : v1::JobInfo();
  }

  Answer<v1::JobInfo> cancel(std::int64_t id, const std::string& user = "alice") {
    v1::CancelRequest request;
    *request.mutable_job() = ref(id);
    Answer<v1::JobInfo> answer;
    core_->cancel(callerOf(user), request, answer.reply());
    settle();
    return answer;
  }

  v1::HostInfo host(const std::string& name) {
    Answer<v1::HostInfo> answer;
    v1::HostRef host_ref;
    host_ref.set_name(name);
    core_->getHost({"alice", ""}, host_ref, answer.reply());
    return answer.value();
  }

  pop::testing::TempDir directory_{"/dev/shm"};
  std::unique_ptr<pop::testing::FakeLoop> loop_ = std::make_unique<pop::testing::FakeLoop>();
  std::chrono::system_clock::time_point wall_{seconds(1700000000)};
  int names_ = 0;
  PodSettings pod_settings_;
  HostRules host_rules_;
  RetentionSettings retention_;
  queue::Rules queue_rules_;
  std::vector<std::string> audit_;
  std::vector<std::string> warnings_;
  IsShutOut is_shut_out_;
  std::unique_ptr<Store> store_;
  std::map<std::string, FakeHost> hosts_;
  std::unique_ptr<DaemonCore> core_;
};

class ClusterTest : public ::testing::Test, protected Cluster {
 protected:
  ClusterTest() { startDaemon(); }
};

}  // namespace pop::popdistd::testing
