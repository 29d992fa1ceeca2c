// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/job_request.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/text.h"
#include "common/model/job_name.h"
#include "common/model/placement.h"
#include "common/wire/job_codec.h"
#include "pod/system/job_system.h"
#include "popdistd/jobs/life/job_life_fsm.h"

namespace pop::popdistd {
namespace {

constexpr std::int64_t kLogLimitBytes = 64 << 20;
constexpr std::int64_t kMinLogLimitBytes = 8 << 20;
constexpr std::int64_t kMaxLogLimitBytes = std::int64_t{1} << 40;
constexpr std::int64_t kLostAfterMs = 600000;
constexpr std::size_t kMaxRequestIdBytes = 128;
constexpr std::size_t kMaxSpecBytes = 4 << 20;  // the system starts no program with more than 2 MiB of words
constexpr std::size_t kMaxShownPrograms = 256;
constexpr std::size_t kMaxShownWords = 64;
constexpr std::size_t kMaxShownWordBytes = 256;

bool namesHosts(const model::JobSpec& spec) {
  return spec.hosts != model::JobSpec().hosts;
}

std::vector<model::Host> placeholders(int count) {
  std::vector<model::Host> hosts;
  for (int i = 0; i < count; ++i) hosts.push_back({.name = "host" + std::to_string(i)});
  return hosts;
}

void checkNumbers(const v1::SubmitRequest& request, std::vector<std::string>& mistakes) {
  if (!request.name().empty() && !model::isJobName(request.name()))
    mistakes.push_back("name " + inQuotes(request.name()) +
                       ": a job's name has letters, digits, '.', '_' and '-', at most 64, and not only "
                       "digits");
  if (request.spec().ByteSizeLong() > kMaxSpecBytes)
    mistakes.push_back("spec has " + std::to_string(request.spec().ByteSizeLong()) +
                       " bytes, and a job at most 4 MiB: its words and variables are too long");
  if (request.request_id().size() > kMaxRequestIdBytes)
    mistakes.push_back("request_id has more than " + std::to_string(kMaxRequestIdBytes) + " characters");
  if (request.has_log_limit_bytes() &&
      (request.log_limit_bytes() < kMinLogLimitBytes || request.log_limit_bytes() > kMaxLogLimitBytes))
    mistakes.push_back("log_limit_bytes (--log-limit) is " + std::to_string(request.log_limit_bytes()) +
                       ", not between 8 MiB and 1 TiB");
  if (request.has_lost_after_ms() && request.lost_after_ms() <= 0)
    mistakes.push_back("lost_after_ms is " + std::to_string(request.lost_after_ms()) + ", not above 0");
}

Status checkSystem(const model::JobSpec& spec) {
  return spec.system.empty() ? Status() : pod::jobSystem(spec.system, "system (--system)", 1).status();
}

void checkSpec(const v1::SubmitRequest& request, model::JobSpec& spec, std::vector<std::string>& mistakes) {
  if (request.has_num_hosts() && namesHosts(spec))
    mistakes.push_back("num_hosts: the job names its hosts, too; give one of both");
  if (request.has_num_hosts() && (request.num_hosts() < 1 || request.num_hosts() > 65536))
    mistakes.push_back("num_hosts is " + std::to_string(request.num_hosts()) + ", not between 1 and 65536");
  if (!mistakes.empty()) return;
  if (!namesHosts(spec)) spec.hosts = placeholders(request.has_num_hosts() ? request.num_hosts() : 1);
  if (!spec.copies.paths.empty() || spec.copies.ssh_key)
    mistakes.push_back("copies: popdistd does not copy files to hosts (--synchronise)");
  for (const model::Program& program : spec.programs) {
    if (program.working_directory.empty() || program.working_directory.starts_with('/')) continue;
    mistakes.push_back("working_directory " + inQuotes(program.working_directory) +
                       " is not an absolute path: the job runs on other hosts");
  }
  if (!request.allocation().empty() && !spec.partition.allocation.empty() &&
      request.allocation() != spec.partition.allocation)
    mistakes.push_back("allocation is " + inQuotes(request.allocation()) + ", and that of its partition " +
                       inQuotes(spec.partition.allocation) + ": a job's partition is in its allocation");
  if (const Status known = checkSystem(spec); !known.ok()) mistakes.push_back(known.message());
  for (std::string& mistake : model::findMistakes(spec)) mistakes.push_back(std::move(mistake));
}

// The job's demands on the queue, as text: whole numbers, and names without line ends.
void setKeys(LiveJob& job, const v1::JobRecord& record) {
  std::string& key = job.shape_key;
  key = std::to_string(job.spec.num_instances) + '/' + std::to_string(job.spec.timeout.count()) + '/' +
        std::to_string(job.spec.kill_grace.count()) + '/' + record.allocation();
  if (!record.allocation().empty()) key += '/' + record.info().user() + '/' + std::to_string(record.role());
  for (const auto& [name, instances] : job.named_load) key += '\n' + name + '*' + std::to_string(instances);
  if (job.named_load.empty())
    key += '\n' + std::to_string(record.num_hosts()) + '*' + std::to_string(job.largest_share);
  const model::PartitionRequest& partition = job.spec.partition;
  if (partition.name.empty()) return;
  const int ilds = job.spec.num_ilds.value_or(0);
  job.pod_key = '\n' + std::to_string(model::partitionIpus(job.spec)) + '/' + std::to_string(ilds) + '/' +
                std::to_string(job.spec.num_replicas) + '/' + partition.sync_type + '/' +
                partition.allocation + '/' + record.info().user() + '/' + std::to_string(record.role());
}

// A job that says where it runs has its partition there.
void setAllocation(model::JobSpec& spec, const std::string& allocation) {
  if (!allocation.empty()) spec.partition.allocation = allocation;
}

// Once: a job that waits is looked at often.
void setShares(LiveJob& job, bool hosts_named) {
  std::vector<std::string> names;
  for (const model::Host& host : job.spec.hosts) names.push_back(host.name);
  std::map<std::string, int> load = loadOn(job.spec, names);
  for (const auto& [name, instances] : load) job.largest_share = std::max(job.largest_share, instances);
  if (hosts_named) job.named_load = std::move(load);
}

// The parts of the spec that poprun's summary names. If there are very many programs, the last one stands for
// the rest.
model::JobSpec shownSpec(const model::JobSpec& spec) {
  model::JobSpec shown;
  shown.hosts = placeholders(static_cast<int>(std::min(spec.hosts.size(), std::size_t{2})));
  for (const model::Program& program : spec.programs) {
    if (shown.programs.size() == kMaxShownPrograms) {
      shown.programs.back().num_instances += program.num_instances;
      continue;
    }
    shown.programs.push_back({.command = {bounded(program.command.front(), kMaxShownWordBytes)},
                              .num_instances = program.num_instances});
  }
  shown.num_instances = spec.num_instances;
  shown.kill_grace = spec.kill_grace;
  shown.timeout = spec.timeout;
  shown.max_restarts = spec.max_restarts;
  shown.restart_delay = spec.restart_delay;
  return shown;
}

v1::JobRecord recordOf(const v1::SubmitRequest& request, const model::JobSpec& spec, const std::string& user,
                       bool hosts_named) {
  v1::JobRecord record;
  v1::JobInfo& info = *record.mutable_info();
  info.set_name(request.name());
  info.set_user(user);
  info.set_state(firstState(request.held()));
  info.set_num_instances(spec.num_instances);
  info.set_priority(request.priority());
  for (const std::string& word : spec.programs.front().command) {
    if (static_cast<std::size_t>(info.command_size()) == kMaxShownWords) break;
    info.add_command(printable(std::string_view(word).substr(0, kMaxShownWordBytes)));
  }
  info.mutable_shown()->ParseFromString(wire::encode(shownSpec(spec)));
  record.set_spec(request.spec().SerializeAsString());
  record.set_request_id(requestKey(user, request.request_id()));
  record.set_request_digest(requestDigest(request));
  record.set_lost_after_ms(request.has_lost_after_ms() ? request.lost_after_ms() : kLostAfterMs);
  record.set_log_limit_bytes(request.has_log_limit_bytes() ? request.log_limit_bytes() : kLogLimitBytes);
  record.set_num_hosts(static_cast<int>(spec.hosts.size()));
  record.set_hosts_named(hosts_named);
  record.set_no_wait(request.no_wait());
  record.set_allocation(request.allocation());
  info.set_allocation(request.allocation());
  return record;
}

}  // namespace

Result<NewJob> newJob(const v1::SubmitRequest& request, const std::string& user, v1::Role role) {
  Result<model::JobSpec> spec = wire::decodeSpec(request.spec().SerializeAsString());
  if (!spec.ok()) return spec.status();
  std::vector<std::string> mistakes;
  checkNumbers(request, mistakes);
  const bool hosts_named = namesHosts(*spec);
  if (spec->programs.empty()) {
    mistakes.push_back("programs: the job has no program to run");
  } else {
    checkSpec(request, *spec, mistakes);
  }
  if (!mistakes.empty()) return invalidArgument(join(mistakes, "\n"));
  spec->stdin_policy = {.who = model::StdinPolicy::Who::kNone};
  NewJob job{recordOf(request, *spec, user, hosts_named), std::make_unique<LiveJob>()};
  job.record.set_role(role);
  setAllocation(*spec, request.allocation());
  job.live->spec = std::move(*spec);
  setShares(*job.live, hosts_named);
  setKeys(*job.live, job.record);
  return job;
}

Result<std::unique_ptr<LiveJob>> liveJob(const v1::JobRecord& record) {
  POP_ASSIGN_OR_RETURN(model::JobSpec spec, wire::decodeSpec(record.spec()));
  if (spec.programs.empty()) return Status(Code::kDataLoss, "the job has no program");
  if (!record.hosts_named()) spec.hosts = placeholders(record.num_hosts());
  if (const auto mistakes = model::findMistakes(spec); !mistakes.empty())
    return Status(Code::kDataLoss, mistakes.front());
  spec.stdin_policy = {.who = model::StdinPolicy::Who::kNone};
  auto live = std::make_unique<LiveJob>();
  setAllocation(spec, record.allocation());
  live->spec = std::move(spec);
  setShares(*live, record.hosts_named());
  setKeys(*live, record);
  const auto& hosts = record.info().hosts();
  if (hosts.size() == record.num_hosts()) live->load = loadOn(live->spec, {hosts.begin(), hosts.end()});
  return live;
}

// FNV-1a: it only tells a repeated request from another one of the same client.
std::string requestDigest(const v1::SubmitRequest& request) {
  std::uint64_t digest = 14695981039346656037U;
  for (const char each : request.SerializeAsString()) {
    digest ^= static_cast<unsigned char>(each);
    digest *= 1099511628211U;
  }
  return std::to_string(digest);
}

std::string requestKey(const std::string& user, const std::string& request_id) {
  return request_id.empty() ? "" : user + '/' + request_id;
}

std::map<std::string, int> loadOn(const model::JobSpec& spec, const std::vector<std::string>& hosts) {
  std::map<std::string, int> load;
  for (const std::string& host : hosts) load[host] = 0;
  for (const model::InstancePlacement& each : model::place(spec))
    ++load[hosts[static_cast<std::size_t>(each.host)]];
  return load;
}

std::string specFor(const model::JobSpec& spec, const std::vector<std::string>& hosts,
                    const VipuServer& vipu_server, const std::string& system) {
  model::JobSpec placed = spec;
  placed.system = system;
  if (!vipu_server.host.empty()) {
    placed.partition.server_host = vipu_server.host;
    placed.partition.server_port = vipu_server.port;
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) placed.hosts[i].name = hosts[i];
  return wire::encode(placed);
}

}  // namespace pop::popdistd
