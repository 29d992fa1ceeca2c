// SPDX-License-Identifier: Apache-2.0
// Decides who may start a job on this host, and who may continue one. Decisions only; it starts nothing.
//
// The user who starts a job gets its token, which is needed to end the job from outside its stream (after the
// stream was lost). The token is valid only with a certificate of the same name, for that job, while the job
// runs: a stolen token alone gives no access, and with the user's key it gives no more than the key does.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "agent/service/users_file.h"

namespace pop::agent {

/// A user's request.
struct JobRequest {
  std::string name;    ///< of the client's certificate
  std::string job_id;  ///< the client's
  int instances = 0;   ///< on this host
};

/// Running jobs and instances, and their limits, for one name or for all together.
struct JobUsage {
  std::string unix_user;  ///< as whom the name's jobs run
  JobLimits own_running;
  JobLimits own_limits;
  JobLimits running;
  JobLimits limits;
};

struct AdmittedJob {
  UnixUser user;      ///< as whom it runs
  std::string token;  ///< 32 hexadecimal digits
};

class Admission {
 public:
  /// `self`: the user that the service runs as. `make_token`: makeJobToken, except in tests.
  Admission(UsersFile users, UnixUser self, std::function<Result<std::string>()> make_token);

  /// Admits the job or returns an error. kPermissionDenied: the name is not listed, or its jobs cannot run as
  /// its Unix user. kResourceExhausted: over a limit, which the message names. kAlreadyExists: the job is
  /// running. kInvalidArgument: invalid id or number of instances.
  Result<AdmittedJob> admit(const JobRequest& request);

  /// Ok if `name` may continue the job. The answer is the same for a job that does not exist and one that
  /// belongs to another user, so that no caller can probe for jobs.
  Status mayContinue(std::string_view name, const std::string& job_id, std::string_view token) const;

  /// The job's launcher asks its agent to start this many instances: kPermissionDenied, kResourceExhausted
  /// and kInvalidArgument as for admit(). The job counts with the largest number it has asked for: the
  /// service does not know whether the agent obeys, nor what is still alive from an earlier run.
  Status admitRun(const std::string& job_id, int instances);

  /// The job is over. Ignored if the job does not exist.
  void release(const std::string& job_id);

  /// The same for a job whose runner is started here by order of the cluster's daemon: its instances on this
  /// host count like others'. The ids are the daemon's: no user can take one. Returns as whom it runs.
  Result<UnixUser> admitRunner(const JobRequest& request);
  void releaseRunner(const std::string& id) { runners_.erase(id); }

  /// The name of a Unix user whose jobs may run here, or who the service is.
  std::optional<std::string> unixUserOf(uid_t uid) const;

  /// Replaces the users and limits. Running jobs continue, but jobs of users who are no longer listed cannot
  /// start instances or be continued.
  void setUsers(UsersFile users) { users_ = std::move(users); }

  /// Ok if the user of this certificate's name may run jobs here.
  Status checkUser(const std::string& name) const;

  /// True if jobs of this Unix user may still be started.
  bool mayRun(const std::string& unix_user) const;

  /// kPermissionDenied: `name` may not do anything here.
  Result<JobUsage> usageOf(const std::string& name) const;

 private:
  struct Job {
    std::string name;
    std::string token;
    int instances = 0;  ///< the most that it has asked for
  };

  Status checkRequest(const JobRequest& request) const;
  Status checkJobs(const std::string& name) const;
  Status checkInstances(const std::string& name, int more) const;
  /// Counts running jobs and instances, of one name, or of all if `name` is empty.
  JobLimits running(std::string_view name) const;

  UsersFile users_;
  UnixUser self_;
  std::function<Result<std::string>()> make_token_;
  std::map<std::string, Job> jobs_;
  std::map<std::string, Job> runners_;  ///< without tokens
};

/// 128 random bits from the kernel, in hexadecimal digits.
Result<std::string> makeJobToken();

/// Takes the same time wherever two texts of the same length differ.
bool equalInConstantTime(std::string_view a, std::string_view b);

/// Returns why the service must not listen at `address`. Without certificates it cannot identify clients: it
/// then serves only this host, and only as a user other than root.
Status checkListening(const std::string& address, bool has_tls, uid_t self);

/// Returns why the service must not join popdistd at `address`: without certificates neither knows the other.
Status checkJoining(const std::string& address, bool has_tls);

}  // namespace pop::agent
