// SPDX-License-Identifier: Apache-2.0
#include "agent/service/admission.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "common/base/text.h"
#include "common/os/place.h"

namespace pop::agent {
namespace {

constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kLongestJobId = 128;
constexpr int kMaxInstances = 65536;  // of any job

Status denied(std::string message) {
  return {Code::kPermissionDenied, std::move(message)};
}

Status badCount(int instances) {
  return invalidArgument("a job can have 1 to " + std::to_string(kMaxInstances) +
                         " instances on a host, not " + std::to_string(instances));
}

// "alice may have 4 jobs at once on this host, but has 4 and asks for 1 more"
Status checkLimit(const std::string& who, std::int64_t running, int more, int limit, const char* noun) {
  if (limit == 0 || running + more <= limit) return {};
  return {Code::kResourceExhausted,
          who + " may have " + counted(limit, noun) + " at once on this host, but has " +
              std::to_string(running) + " and asks for " + std::to_string(more) +
              " more: wait until others end, or ask the admin for more (users file, " + noun + "s=)"};
}

}  // namespace

Admission::Admission(UsersFile users, UnixUser self, std::function<Result<std::string>()> make_token)
    : users_(std::move(users)), self_(std::move(self)), make_token_(std::move(make_token)) {}

Result<AdmittedJob> Admission::admit(const JobRequest& request) {
  POP_RETURN_IF_ERROR(checkRequest(request));
  if (jobs_.contains(request.job_id))
    return Status(Code::kAlreadyExists,
                  "a job with the id " + inQuotes(request.job_id) +
                      " already runs on this host (do two names in --host mean this host?)");
  POP_RETURN_IF_ERROR(checkJobs(request.name));
  POP_RETURN_IF_ERROR(checkInstances(request.name, request.instances));
  POP_ASSIGN_OR_RETURN(std::string token, make_token_());
  jobs_[request.job_id] = {request.name, token, request.instances};
  return AdmittedJob{users_.users.find(request.name)->second.user, std::move(token)};
}

Result<UnixUser> Admission::admitRunner(const JobRequest& request) {
  POP_RETURN_IF_ERROR(checkRequest(request));
  if (runners_.contains(request.job_id))
    return Status(Code::kAlreadyExists, "the runner " + inQuotes(request.job_id) + " already runs");
  POP_RETURN_IF_ERROR(checkJobs(request.name));
  POP_RETURN_IF_ERROR(checkInstances(request.name, request.instances));
  runners_[request.job_id] = {request.name, {}, request.instances};
  return users_.users.find(request.name)->second.user;
}

Status Admission::checkRequest(const JobRequest& request) const {
  POP_RETURN_IF_ERROR(checkUser(request.name));
  if (request.job_id.empty() || request.job_id.size() > kLongestJobId)
    return invalidArgument("a job needs an id of 1 to " + std::to_string(kLongestJobId) + " characters");
  if (request.instances < 1 || request.instances > kMaxInstances) return badCount(request.instances);
  return {};
}

Status Admission::checkUser(const std::string& name) const {
  const auto found = users_.users.find(name);
  if (found == users_.users.end())
    return denied(inQuotes(name) + " is not in the users file of this host's agent: ask its admin to add it");
  const UnixUser& user = found->second.user;
  if (self_.uid == 0 || user.uid == self_.uid) return {};
  return denied("the agent on this host runs as " + inQuotes(self_.name) + " and cannot run jobs of " +
                inQuotes(user.name) + ": only an agent that runs as root can");
}

Status Admission::checkJobs(const std::string& name) const {
  const int most = users_.users.find(name)->second.limits.jobs;
  POP_RETURN_IF_ERROR(checkLimit(inQuotes(name), running(name).jobs, 1, most, "job"));
  return checkLimit("all users together", running({}).jobs, 1, users_.limits.jobs, "job");
}

Status Admission::checkInstances(const std::string& name, int more) const {
  const int most = users_.users.find(name)->second.limits.instances;
  POP_RETURN_IF_ERROR(checkLimit(inQuotes(name), running(name).instances, more, most, "instance"));
  return checkLimit("all users together", running({}).instances, more, users_.limits.instances, "instance");
}

JobLimits Admission::running(std::string_view name) const {
  JobLimits sum;
  for (const std::map<std::string, Job>* all : {&jobs_, &runners_}) {
    for (const auto& [id, job] : *all) {
      if (!name.empty() && job.name != name) continue;
      ++sum.jobs;
      sum.instances += job.instances;
    }
  }
  return sum;
}

Status Admission::mayContinue(std::string_view name, const std::string& job_id,
                              std::string_view token) const {
  const auto found = jobs_.find(job_id);
  const bool known = found != jobs_.end() && found->second.name == name && users_.users.contains(name);
  if (known && equalInConstantTime(found->second.token, token)) return {};
  return denied("no job " + inQuotes(job_id) + " of " + inQuotes(name) + " with this token runs here");
}

Status Admission::admitRun(const std::string& job_id, int instances) {
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) return Status(Code::kNotFound, "no job " + inQuotes(job_id) + " runs here");
  if (instances > kMaxInstances) return badCount(instances);
  Job& job = found->second;
  POP_RETURN_IF_ERROR(checkUser(job.name));
  if (instances <= job.instances) return {};
  POP_RETURN_IF_ERROR(checkInstances(job.name, instances - job.instances));
  job.instances = instances;
  return {};
}

Result<JobUsage> Admission::usageOf(const std::string& name) const {
  POP_RETURN_IF_ERROR(checkUser(name));
  const AllowedUser& allowed = users_.users.find(name)->second;
  return JobUsage{allowed.user.name, running(name), allowed.limits, running({}), users_.limits};
}

void Admission::release(const std::string& job_id) {
  jobs_.erase(job_id);
}

bool Admission::mayRun(const std::string& unix_user) const {
  return std::any_of(users_.users.begin(), users_.users.end(),
                     [&](const auto& each) { return each.second.user.name == unix_user; });
}

std::optional<std::string> Admission::unixUserOf(uid_t uid) const {
  if (uid == self_.uid) return self_.name;
  const auto found = std::find_if(users_.users.begin(), users_.users.end(),
                                  [uid](const auto& each) { return each.second.user.uid == uid; });
  if (found == users_.users.end()) return std::nullopt;
  return found->second.user.name;
}

Result<std::string> makeJobToken() {
  std::array<std::uint8_t, kTokenBytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return errnoStatus("making a job's token", errno);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const std::uint8_t byte : random) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

bool equalInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

Status checkListening(const std::string& address, bool has_tls, uid_t self) {
  if (has_tls) return {};
  if (!os::isLoopback(address))
    return failedPrecondition(
        "without TLS anybody who can reach " + address +
        " could run jobs: make certificates with popdist-agent init-tls and give their directory with "
        "--tls, or listen at 127.0.0.1");
  if (self == 0)
    return failedPrecondition(
        "without TLS every user of this host could run jobs as root: make certificates "
        "with popdist-agent init-tls, or run the service as another user");
  return {};
}

Status checkJoining(const std::string& address, bool has_tls) {
  if (has_tls || os::isLoopback(address)) return {};
  return failedPrecondition(
      "without TLS anybody on the way to " + address +
      " could start jobs here: give the certificates of this host with --tls, or name a "
      "popdistd on this host (127.0.0.1)");
}

}  // namespace pop::agent
