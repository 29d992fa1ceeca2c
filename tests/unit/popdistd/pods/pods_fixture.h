// SPDX-License-Identifier: Apache-2.0
// A daemon with one Pod64 that every user may use, its jobs, and the store as another process sees it.
#pragma once

#include <sqlite3.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/job_codec.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {

class PodsTest : public ClusterTest {
 protected:
  PodsTest() {
    EXPECT_TRUE(core_->pods().addDefaultInventory("h0").ok());
    settle();
  }

  void restart() {
    killDaemon();
    startDaemon();
    settle();
  }
  void setDelay(milliseconds delay) {
    pod_settings_.configure_delay = delay;
    restart();
  }

  /// A call of the daemon's and its answer, which is there if it is durable.
  template <typename Interface, typename Request, typename T>
  Answer<T> call(Interface& interface, void (Interface::*method)(const Caller&, Request, Reply<T>),
                 const Caller& caller, const Request& request) {
    Answer<T> answer;
    (interface.*method)(caller, request, answer.reply());
    settle();
    return answer;
  }
  template <typename Interface, typename Request, typename T>
  Answer<T> call(Interface& interface, void (Interface::*method)(const Caller&, Request, Reply<T>),
                 const std::string& user, const Request& request) {
    return call(interface, method, callerOf(user, "10.0.0.9"), request);
  }
  PodsApi& pods() { return core_->pods().api(); }
  VipuApi& vipu() { return core_->pods().vipu(); }

  Answer<virmgrpc::CreatePartitionReply> create(const std::string& id, std::uint32_t size,
                                                const std::string& user = "alice", std::uint32_t gcds = 1,
                                                bool reconfigurable = false) {
    virmgrpc::CreatePartitionRequest request;
    request.mutable_requirements()->set_id(id);
    request.mutable_requirements()->set_size(size);
    request.mutable_requirements()->set_num_gcds(gcds);
    request.mutable_requirements()->set_reconfigurable(reconfigurable);
    return call(vipu(), &VipuApi::createPartition, user, request);
  }
  Answer<virmgrpc::RemovePartitionReply> remove(const std::string& id, bool force = false,
                                                const std::string& user = "alice") {
    virmgrpc::RemovePartitionRequest request;
    request.set_partition_id(id);
    request.set_force(force);
    return call(vipu(), &VipuApi::removePartition, user, request);
  }
  Answer<v1::Nothing> releasePartition(const std::string& id, bool force, const std::string& user = "root") {
    v1::ReleasePartitionRequest request;
    request.set_partition(id);
    request.set_force(force);
    request.set_reason("h0 was switched off");
    return call(pods(), &PodsApi::releasePartition, user, request);
  }

  std::optional<v1::PartitionInfo> partition(const std::string& id, const std::string& user = "root") {
    const auto list = call(pods(), &PodsApi::listPartitions, user, v1::ListPodPartitionsRequest()).value();
    for (const v1::PartitionInfo& each : list.partitions()) {
      if (each.id() == id) return each;
    }
    return std::nullopt;
  }
  v1::Capacity capacity() { return theAllocation().capacity(); }

  /// A job whose instances have eight IPUs each, in a partition of this name.
  static v1::SubmitRequest inPartition(const std::string& name, int instances = 2) {
    v1::SubmitRequest request = requestOf(instances);
    request.mutable_spec()->set_ipus_per_replica(8);
    request.mutable_spec()->mutable_partition()->set_name(name);
    return request;
  }

  /// From now on the allocation is for this user, and those who were named before.
  Code allow(const std::string& user) {
    v1::AllocationInfo allocation = theAllocation();
    allocation.add_users(user);
    return replace(std::move(allocation));
  }
  /// From now on it is for this user, and no longer for others.
  Code allowOnly(const std::string& user) {
    v1::AllocationInfo allocation = theAllocation();
    allocation.clear_users();
    allocation.add_users(user);
    return replace(std::move(allocation));
  }

  std::unique_ptr<Source<v1::HoldReply>> hold(const std::string& id, const std::string& token,
                                              Status* why = nullptr, bool remove = false) {
    v1::HoldRequest request;
    request.set_remove(remove);
    request.set_partition(id);
    request.set_holder("poprun 4711 on h7");
    request.set_token(token);
    auto held = pods().holdPartition({"alice", ""}, request, [] {});
    settle();
    if (held.ok()) return std::move(held.value());
    if (why != nullptr) *why = held.status();
    return nullptr;
  }

  v1::AllocationInfo theAllocation() {
    return call(pods(), &PodsApi::listAllocations, "root", v1::ListAllocationsRequest())
        .value()
        .allocations(0);
  }
  Code replace(v1::AllocationInfo allocation) {
    v1::CreateAllocationRequest request;
    *request.mutable_allocation() = std::move(allocation);
    request.set_replace(true);
    return call(pods(), &PodsApi::createAllocation, "root", request).code();
  }

  // ---- the store, by a connection of its own

  std::vector<std::vector<std::string>> ask(const std::string& sql) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2((directory_.path() + "/state/store.db").c_str(), &database,
                              SQLITE_OPEN_READWRITE, nullptr),
              SQLITE_OK);
    std::vector<std::vector<std::string>> rows;
    sqlite3_stmt* statement = nullptr;
    const char* rest = sql.c_str();
    while (*rest != 0) {
      EXPECT_EQ(sqlite3_prepare_v2(database, rest, -1, &statement, &rest), SQLITE_OK)
          << sqlite3_errmsg(database);
      while (sqlite3_step(statement) == SQLITE_ROW) {
        std::vector<std::string>& row = rows.emplace_back();
        for (int i = 0; i < sqlite3_column_count(statement); ++i)
          row.emplace_back(static_cast<const char*>(sqlite3_column_blob(statement, i)),
                           static_cast<std::size_t>(sqlite3_column_bytes(statement, i)));
      }
      sqlite3_finalize(statement);
    }
    sqlite3_close(database);
    return rows;
  }

  /// The invariant of every committed state: an IPU has one owner, and it is the one whose record says so; a
  /// job holds a partition exactly if it has a runner there.
  void checkStore() {
    std::map<std::string, std::string> jobs;  // by partition
    for (const auto& row : ask("SELECT partition, job FROM bindings")) {
      EXPECT_TRUE(jobs.emplace(row[0], row[1]).second) << row[0];
    }
    std::map<std::string, std::string> owners;  // by IPU
    for (const auto& row : ask("SELECT cluster, ild, ipu, partition FROM partition_ipus"))
      EXPECT_TRUE(owners.emplace(row[0] + '/' + row[1] + '/' + row[2], row[3]).second);
    std::size_t ipus = 0;
    for (const auto& row : ask("SELECT id, record FROM partitions")) {
      v1::PartitionRecord record;
      ASSERT_TRUE(record.ParseFromString(row[1]));
      EXPECT_EQ(record.info().job() == 0 ? "" : std::to_string(record.info().job()),
                jobs.contains(row[0]) ? jobs[row[0]] : "");
      for (const v1::PodIpu& ipu : record.info().ipus())
        EXPECT_EQ(owners["pod64/" + std::to_string(ipu.ild()) + '/' + std::to_string(ipu.ipu())], row[0]);
      ipus += static_cast<std::size_t>(record.info().ipus_size());
    }
    EXPECT_EQ(ipus, owners.size());
    for (const auto& row : ask("SELECT id, record FROM jobs")) {
      v1::JobRecord record;
      ASSERT_TRUE(record.ParseFromString(row[1]));
      const v1::JobState state = record.info().state();
      const bool has_runner =
          state == v1::JOB_STARTING || state == v1::JOB_RUNNING || state == v1::JOB_ENDING;
      if (has_runner && !record.info().partition().empty()) {
        EXPECT_EQ(jobs[record.info().partition()], row[0]);
      }
    }
  }
};

}  // namespace pop::popdistd::testing
