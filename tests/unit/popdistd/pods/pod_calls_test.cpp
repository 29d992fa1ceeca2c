// SPDX-License-Identifier: Apache-2.0
// Inventory, V-IPU's calls, who may what, and what the store refuses.
#include "tests/unit/popdistd/pods/pods_fixture.h"

namespace pop::popdistd::testing {
namespace {

class PodCallsTest : public PodsTest {
 protected:
  virmgrpc::PartitionStatus status(const std::string& id) {
    virmgrpc::GetPartitionStatusRequest request;
    request.set_partition_id(id);
    const auto answer = call(vipu(), &VipuApi::getPartitionStatus, "alice", request);
    code_ = answer.code();
    return answer.code() == Code::kOk ? answer.value().status() : virmgrpc::PartitionStatus();
  }
  Code reset(const std::string& id) {
    virmgrpc::ResetPartitionRequest request;
    request.set_partition_id(id);
    return call(vipu(), &VipuApi::resetPartition, "alice", request).code();
  }

  Code code_ = Code::kOk;
};

TEST_F(PodCallsTest, APartitionIsStoredUntilItIsRemoved) {
  EXPECT_EQ(create("p16", 16, "alice", 2).code(), Code::kOk);
  checkStore();
  restart();
  const auto info = partition("p16");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->owner(), "alice");
  EXPECT_EQ(info->vipu_state(), "ACTIVE/IDLE");
  EXPECT_EQ(info->gcd_hosts_size(), 2);
  EXPECT_EQ(capacity().free(), 48);
  EXPECT_EQ(status("p16").ready_state(), virmgrpc::PS_ACTIVE);
  EXPECT_EQ(remove("p16").code(), Code::kOk);
  EXPECT_FALSE(partition("p16"));
  EXPECT_EQ(capacity().free(), 64);
  restart();
  status("p16");
  EXPECT_EQ(code_, Code::kNotFound);
}

TEST_F(PodCallsTest, MistakesHaveVipusCodes) {
  EXPECT_EQ(create("p", 3).code(), Code::kInvalidArgument);
  EXPECT_EQ(create("p", 128).code(), Code::kInvalidArgument);
  EXPECT_EQ(create("p", 32).code(), Code::kOk);
  EXPECT_EQ(create("p", 8).code(), Code::kAlreadyExists);
  EXPECT_EQ(create("q", 64).code(), Code::kResourceExhausted);
  EXPECT_EQ(remove("q").code(), Code::kNotFound);
  EXPECT_EQ(reset("q"), Code::kNotFound);
  EXPECT_EQ(reset("p"), Code::kOk);
  checkStore();
}

TEST_F(PodCallsTest, AnAgentIsAtAnAddress) {
  v1::AgentInfo agent = call(pods(), &PodsApi::listAgents, "root", v1::ListAgentsRequest()).value().agents(0);
  agent.set_id("more");
  agent.clear_ild();
  agent.clear_position();
  const auto made = [&](const std::string& host, const std::string& ip) {
    agent.set_host(host);
    agent.set_ip(ip);
    return call(pods(), &PodsApi::createAgent, "root", agent);
  };
  for (const char* ip : {"999.1.1.1", "10.1.1", "10.1.1.1.1", "10..1.1", "host", "1:2", "::g", "10.1.5.9 "}) {
    const auto answer = made("h1", ip);
    EXPECT_EQ(answer.code(), Code::kInvalidArgument) << ip;
    EXPECT_NE(answer.words().find("ip is"), std::string::npos) << answer.words();
  }
  EXPECT_NE(made("a b", "10.1.5.9").words().find("host is"), std::string::npos);
  for (const char* ip : {"", "10.1.5.9", "fd00::1"})
    EXPECT_EQ(made("node-7.rack_2", ip).words().find(" is no"), std::string::npos) << ip;
}

TEST_F(PodCallsTest, EachGcdHasItsIpus) {
  create("p8", 8, "alice", 2);
  virmgrpc::GetPartitionIpuofConfigRequest request;
  request.set_partition_id("p8");
  const auto all = call(vipu(), &VipuApi::getPartitionIpuofConfig, "alice", request);
  ASSERT_EQ(all.value().ipuof_config().gcd_configs_size(), 2);
  request.mutable_gcd_id()->set_id(1);
  const auto one = call(vipu(), &VipuApi::getPartitionIpuofConfig, "alice", request);
  ASSERT_EQ(one.value().ipuof_config().gcd_configs_size(), 1);
  EXPECT_EQ(one.value().ipuof_config().gcd_configs(0).devices(0).routing_id(), 4U);
  request.mutable_gcd_id()->set_id(2);
  EXPECT_EQ(call(vipu(), &VipuApi::getPartitionIpuofConfig, "alice", request).code(), Code::kNotFound);
}

TEST_F(PodCallsTest, ConfiguringGoesOnAfterARestart) {
  setDelay(seconds(5));
  create("p4", 4);
  EXPECT_EQ(status("p4").operation_state(), virmgrpc::POS_CREATING);
  restart();
  EXPECT_EQ(status("p4").operation_state(), virmgrpc::POS_CREATING);
  advance(seconds(7));
  EXPECT_EQ(status("p4").ready_state(), virmgrpc::PS_ACTIVE);
  EXPECT_EQ(reset("p4"), Code::kOk);
  EXPECT_EQ(status("p4").operation_state(), virmgrpc::POS_RESETTING);
  EXPECT_EQ(remove("p4").code(), Code::kOk);
  advance(seconds(7));
  EXPECT_FALSE(partition("p4"));
}

TEST_F(PodCallsTest, AllocationsBoundWhatAUserSees) {
  create("p4", 4);
  EXPECT_EQ(allow("alice"), Code::kOk);
  EXPECT_EQ(create("p8", 8, "bob").code(), Code::kFailedPrecondition);
  EXPECT_EQ(remove("p4", true, "bob").code(), Code::kNotFound);
  EXPECT_EQ(remove("p4", true, "bob").words(), "there is no partition 'p4', or not for user 'bob'");
  EXPECT_EQ(remove("p5", true, "bob").words(), "there is no partition 'p5', or not for user 'bob'");
  EXPECT_FALSE(partition("p4", "bob"));
  EXPECT_TRUE(partition("p4", "alice"));
  EXPECT_EQ(call(vipu(), &VipuApi::listIpuAttributes, "bob", virmgrpc::ListIPUAttributesRequest())
                .value()
                .entries_size(),
            0);
  EXPECT_EQ(call(pods(), &PodsApi::listClusters, "bob", v1::ListClustersRequest()).value().clusters_size(),
            0);
  EXPECT_EQ(trySubmit(inPartition("p4"), "bob").words(), "partition 'p4' exists already: use another name");
}

// Jobs are seen by all; where they are is not.
TEST_F(PodCallsTest, NothingIsToldOfPartitionsThatTheCallerMayNotUse) {
  join("h0", 100);
  EXPECT_EQ(allow("alice"), Code::kOk);
  const std::int64_t holds = submit(inPartition("p16"));
  const std::int64_t waits = submit(inPartition("p16"));
  advance(seconds(7));
  const std::string all = "default";
  const auto isTold = [&](const v1::JobInfo& info) {
    return info.partition() == "p16" || info.allocation() == all ||
           info.reason().find("p16") != std::string::npos || info.reason().find(all) != std::string::npos;
  };
  for (const std::string user : {"alice", "bob"}) {
    const Caller caller = callerOf(user);
    const bool may = user == "alice";
    for (const std::int64_t id : {holds, waits}) {
      Answer<v1::JobInfo> got;
      core_->get(caller, ref(id), got.reply());
      EXPECT_EQ(isTold(got.value()), may) << user << got.value().reason();
    }
    for (const char* const text : {"", "p16"}) {
      v1::ListJobsRequest request;
      request.set_text(text);
      Answer<v1::ListJobsReply> list;
      core_->list(caller, request, list.reply());
      for (const v1::JobInfo& each : list.value().jobs()) EXPECT_EQ(isTold(each), may) << user;
      if (*text != '\0') {
        EXPECT_EQ(list.value().jobs_size() > 0, may) << "the text of a reason is a telling, too";
      }
    }
    Answer<v1::CountJobsReply> counts;
    core_->countJobs(caller, {}, counts.reply());
    ASSERT_EQ(counts.value().waiting_size(), 1) << job(waits).reason();
    EXPECT_EQ(counts.value().waiting(0).reason().find("p16") != std::string::npos, may) << user;
    const auto watch = std::move(core_->watch(caller, {}, [] {}).value());
    while (const std::optional<ShownChange> change = watch->next()) {
      if ((*change)->has_job()) {
        EXPECT_EQ(isTold((*change)->job()), may) << user;
      }
    }
  }
  v1::ListPodPartitionsRequest request;
  request.set_allocation(all);
  EXPECT_EQ(call(pods(), &PodsApi::listPartitions, "bob", request).code(), Code::kNotFound);
  v1::ListAgentsRequest agents;
  agents.set_cluster("c");
  EXPECT_EQ(call(pods(), &PodsApi::listAgents, "bob", agents).code(), Code::kNotFound);
  virmgrpc::ListIPUAttributesRequest attributes;
  attributes.add_agents("m0");
  EXPECT_EQ(call(vipu(), &VipuApi::listIpuAttributes, "bob", attributes).code(), Code::kNotFound);
  EXPECT_EQ(create("p16", 16, "bob").words().find("is "), std::string::npos)
      << create("p16", 16, "bob").words();
}

TEST_F(PodCallsTest, AnAdminsTokenOfASmallerScopeHasNoMoreAllocationsThanItsUser) {
  const Caller by_token{.user = "root", .role = v1::ROLE_SUBMIT};
  join("h0", 100);
  create("p4", 4);
  EXPECT_EQ(allow("alice"), Code::kOk);
  EXPECT_EQ(call(pods(), &PodsApi::listPartitions, by_token, v1::ListPodPartitionsRequest())
                .value()
                .partitions_size(),
            0);
  EXPECT_EQ(call(pods(), &PodsApi::listAgents, by_token, v1::ListAgentsRequest()).value().agents_size(), 0);
  virmgrpc::RemovePartitionRequest request;
  request.set_partition_id("p4");
  EXPECT_EQ(call(vipu(), &VipuApi::removePartition, by_token, request).code(), Code::kNotFound);
  EXPECT_EQ(trySubmit(inPartition("p4"), by_token).code(), Code::kAlreadyExists);
  EXPECT_NE(trySubmit(inPartition("new"), by_token).code(), Code::kOk);
  EXPECT_EQ(trySubmit(inPartition("new"), callerOf("root")).code(), Code::kOk);
}

TEST_F(PodCallsTest, AWaitingJobHasNoMoreAllocationsThanWhatSubmittedIt) {
  const Caller by_token{.user = "root", .role = v1::ROLE_SUBMIT};
  const auto waiting = trySubmit(inPartition("new"), by_token);
  ASSERT_EQ(waiting.code(), Code::kOk) << waiting.words();
  const auto of_admin = trySubmit(inPartition("other"), callerOf("root"));
  ASSERT_EQ(of_admin.code(), Code::kOk) << of_admin.words();
  EXPECT_EQ(allow("alice"), Code::kOk);
  restart();
  join("h0", 100);
  EXPECT_NE(job(waiting.value().job().id()).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(of_admin.value().job().id()).state(), v1::JOB_RUNNING);
}

TEST_F(PodCallsTest, AWaitingJobNeedsItsAllocationStillWhenItStarts) {
  v1::SubmitRequest request = requestOf();
  request.set_allocation("default");
  const std::int64_t of_alice = submit(request);
  const std::int64_t of_bob = submit(request, "bob");
  EXPECT_EQ(allow("alice"), Code::kOk);
  join("h0", 100);
  EXPECT_EQ(job(of_alice).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(of_bob).end(), v1::END_FAILED);
  EXPECT_NE(job(of_bob).reason().find("not for user 'bob'"), std::string::npos) << job(of_bob).reason();
}

TEST_F(PodCallsTest, OnlyAdminsChangeTheInventory) {
  v1::DrainAgentRequest request;
  request.mutable_agent()->set_id("m0");
  request.set_reason("fan");
  EXPECT_EQ(call(pods(), &PodsApi::drainAgent, "alice", request).code(), Code::kPermissionDenied);
  EXPECT_EQ(call(pods(), &PodsApi::drainAgent, "root", request).value().drained_by(), "root");
  restart();
  EXPECT_EQ(capacity().unusable(), 4);
  EXPECT_EQ(create("p64", 64).code(), Code::kResourceExhausted);
  v1::AgentRef agent;
  agent.set_id("m0");
  EXPECT_EQ(call(pods(), &PodsApi::removeAgent, "root", agent).code(), Code::kFailedPrecondition);
  EXPECT_EQ(call(pods(), &PodsApi::resumeAgent, "root", agent).code(), Code::kOk);
  EXPECT_EQ(create("p64", 64).code(), Code::kOk);
  v1::AllocationRef allocation;
  allocation.set_id("default");
  EXPECT_EQ(call(pods(), &PodsApi::removeAllocation, "root", allocation).code(), Code::kFailedPrecondition);
}

TEST_F(PodCallsTest, AnAllocationsQuotaIsRemovedFirst) {
  v1::QuotaInfo quota;
  quota.mutable_of()->set_kind(v1::QUOTA_ALLOCATION);
  quota.mutable_of()->set_name("default");
  quota.set_ipus(16);
  Answer<v1::QuotaInfo> set;
  core_->setQuota(callerOf("root"), quota, set.reply());
  settle();
  ASSERT_EQ(set.code(), Code::kOk);
  v1::AllocationRef allocation;
  allocation.set_id("default");
  const auto refused = call(pods(), &PodsApi::removeAllocation, "root", allocation);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.words().find("quota"), std::string::npos) << refused.words();
  Answer<v1::Nothing> removed;
  core_->removeQuota(callerOf("root"), quota.of(), removed.reply());
  settle();
  EXPECT_EQ(call(pods(), &PodsApi::removeAllocation, "root", allocation).code(), Code::kOk);
}

TEST_F(PodCallsTest, AListOfPartitionsComesInPages) {
  join("h0");
  for (const char* const id : {"c", "a", "e", "b", "d"}) ASSERT_EQ(create(id, 4).code(), Code::kOk);
  std::string listed;
  v1::ListPodPartitionsRequest request;
  request.set_page_size(2);
  do {
    const auto page = call(pods(), &PodsApi::listPartitions, "alice", request).value();
    for (const v1::PartitionInfo& each : page.partitions()) listed += each.id();
    listed += '/';
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, "ab/cd/e/");
  request.set_page_size(-1);
  EXPECT_EQ(call(pods(), &PodsApi::listPartitions, "alice", request).code(), Code::kInvalidArgument);
}

TEST_F(PodCallsTest, AMachineIsLostWithItsHost) {
  FakeHost& h0 = join("h0");
  create("p4", 4);
  h0.loseConnection();
  advance(seconds(70));
  EXPECT_EQ(partition("p4")->vipu_state(), "ERROR/IDLE");
  EXPECT_EQ(capacity().unusable(), 60);
  join("h0");
  advance(seconds(7));
  EXPECT_EQ(partition("p4")->vipu_state(), "ACTIVE/IDLE");
  EXPECT_EQ(partition("p4")->auto_resets(), 1);
}

TEST_F(PodCallsTest, WhatTheStoreRefusesIsTakenBack) {
  create("p4", 4);
  ask("INSERT INTO partitions(id, record) VALUES('ghost', x'00');"
      "INSERT INTO partition_ipus(cluster, ild, ipu, partition) VALUES('pod64', 0, 5, 'ghost');");
  EXPECT_EQ(create("q4", 4).code(), Code::kAlreadyExists);
  EXPECT_FALSE(partition("q4"));
  EXPECT_EQ(capacity().owned(), 4);
  EXPECT_EQ(remove("p4").code(), Code::kOk);
  EXPECT_EQ(create("q4", 4).code(), Code::kOk);  // in p4's place
}

TEST_F(PodCallsTest, AFailedCommitChangesNothing) {
  create("p4", 4);
  ask("CREATE TRIGGER full BEFORE INSERT ON partitions BEGIN SELECT RAISE(ABORT, 'full'); END;");
  EXPECT_NE(create("q4", 4).code(), Code::kOk);
  EXPECT_NE(reset("p4"), Code::kOk);
  EXPECT_FALSE(partition("q4"));
  EXPECT_EQ(capacity().owned(), 4);
  ask("DROP TRIGGER full;");
  EXPECT_EQ(create("q4", 4).code(), Code::kOk);
  EXPECT_EQ(remove("p4").code(), Code::kOk);
  checkStore();
}

TEST_F(PodCallsTest, AStoreThatContradictsItselfIsNotTaken) {
  create("p4", 4);
  killDaemon();
  ask("DELETE FROM partition_ipus WHERE ipu = 2;");
  Result<std::unique_ptr<SqliteStore>> opened = SqliteStore::open(directory_.path() + "/state");
  ASSERT_TRUE(opened.ok());
  const auto started = DaemonCore::start(*loop_, **opened, {.random_name = [] { return std::string("n"); }});
  EXPECT_EQ(started.status().code(), Code::kDataLoss);
  EXPECT_NE(started.status().message().find("p4"), std::string::npos) << started.status().message();
}

}  // namespace
}  // namespace pop::popdistd::testing
