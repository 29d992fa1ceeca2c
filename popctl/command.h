// SPDX-License-Identifier: Apache-2.0
// One command line of popctl, as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/popdist/v1/controller.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

enum class Action : std::uint8_t {
  kSubmitJob,
  kListJobs,
  kListHosts,
  kGetJob,
  kGetHost,
  kCancelJob,
  kSignalJob,
  kHoldJob,
  kReleaseJob,
  kWaitJob,
  kForgetJob,
  kLogsJob,
  kAttachJob,
  kDrainHost,
  kResumeHost,
  kRemoveHost,
  kCheckStore,
  kBackup,
  kAbout,
  kTop,
  kCompletion,
  kSetQuota,
  kListQuotas,
  kRemoveQuota,
  // Commands on Pods (popctl/pods/pod_commands.h):
  kCreatePartition,
  kListPartitions,
  kGetPartition,
  kResetPartition,
  kRemovePartition,
  kReleasePartition,
  kListIpuAttributes,
  kCreateCluster,
  kListClusters,
  kRemoveCluster,
  kCreateAgent,
  kListAgents,
  kRemoveAgent,
  kDrainAgent,
  kResumeAgent,
  kCreateAllocation,
  kListAllocations,
  kRemoveAllocation,
  // Commands on access (popctl/access/access_commands.h):
  kCreateUser,
  kListUsers,
  kRemoveUser,
  kCreateToken,
  kListTokens,
  kRemoveToken,
  kListAudit,
  kCheckAudit,
};

inline bool isOfPods(Action action) {
  return action >= Action::kCreatePartition && action <= Action::kRemoveAllocation;
}

inline bool isOfAccess(Action action) {
  return action >= Action::kCreateUser && action <= Action::kCheckAudit;
}

/// Options of all commands.
struct CommonOptions {
  std::string server;                      ///< as given; empty: see settings.h
  std::string tls;                         ///< likewise
  std::string server_option = "--server";  ///< that has given it, for errors
  std::string tls_option = "--tls";        ///< likewise
  std::string token_file;                  ///< likewise
  bool json = false;
  bool vipu_json = false;  ///< the JSON of `vipu-cli --showjson` instead
  bool quiet = false;
  std::optional<double> timeout_s;  ///< missing: 30, but none for `wait job`
  int reconnect_s = 60;
};

struct JobFilter {
  std::string user;
  std::vector<v1::JobState> states;
  std::string name;
  std::string host;
};

/// Subject and limits of a quota. Either user or allocation is set.
struct QuotaOptions {
  std::string user;
  std::string allocation;
  std::optional<int> queued;  ///< jobs, as the next
  std::optional<int> running;
  std::optional<int> instances;
  std::optional<int> ipus;
  std::optional<int> share;
};

struct SubmitOptions {
  std::string name;
  std::string allocation;  ///< on whose hosts it runs
  bool held = false;
  std::optional<int> priority;
  std::optional<int> num_hosts;
  bool no_wait = false;
  bool wait = false;    ///< for the job's end
  bool attach = false;  ///< show the job
};

/// Options on partitions and their parts. Numbers of kinds are those of V-IPU's enums
/// and of pods.proto; empty, 0 and missing: not said.
struct PodOptions {
  std::uint32_t size = 0;  ///< number of IPUs
  std::string allocation;
  std::string cluster;
  std::uint32_t num_gcds = 0;
  std::uint32_t num_replicas = 0;
  std::uint32_t num_segments = 0;
  std::optional<std::uint32_t> index;  ///< which block of `size` IPUs of the cluster
  bool reconfigurable = false;
  bool relocatable = false;
  bool no_auto_reset = false;
  int routing = 0;
  int gateway_routing = 0;
  int sync = 0;
  bool no_ipuof_files = false;
  std::optional<std::uint32_t> gcd;
  bool ipuof_configs = false;
  bool system = false;
  bool force = false;
  std::optional<int> num_ilds;  ///< of a cluster, as the next three
  std::optional<int> machines_per_ild;
  int topology = 0;
  int gateways = 0;
  std::string host;  ///< of an agent, as the next three
  std::string ip;
  std::optional<int> ild;
  std::optional<int> position;
  std::vector<std::string> agents;
  std::vector<std::string> users;
  bool replace = false;
};

/// Options on users, tokens and the audit log.
struct AccessOptions {
  v1::Role role = v1::ROLE_NONE;  ///< or scope
  bool shut_out = false;          ///< the role none
  bool vipu_key = false;
  std::int64_t expires_s = 0;  ///< 0: not said
  std::string user;
  int limit = 0;  ///< 0: not said
};

struct Command {
  Action action = Action::kAbout;
  std::string words;  ///< "cancel job", for messages
  CommonOptions common;
  std::vector<std::string> objects;  ///< several jobs
  std::string object;                ///< job, host, file, shell, or what Pods have
  std::string signal;
  std::string reason;
  JobFilter filter;
  int limit = 100;  ///< of a list; 0: none
  bool watch = false;
  bool follow = false;
  bool control = false;
  std::uint64_t since_sequence = 0;
  SubmitOptions submit;
  QuotaOptions quota;
  PodOptions pods;
  AccessOptions access;
  std::vector<std::string> rest;  ///< options about output, or a job's command line, for poprun's parser
};

}  // namespace pop::popctl
