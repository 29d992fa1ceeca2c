// SPDX-License-Identifier: Apache-2.0
// Who may start a job on this host now, and who may go on with it. Decisions only; nothing is started here.
//
// A job's token is given to whoever started it, and is needed to end the job from outside of its stream
// (after that was lost). It counts only together with a certificate of the same name, for that job, while it
// runs: a stolen token alone gives nothing, and with that user's key nothing that the key does not give
// anyway.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "agent/service/users_file.h"

namespace pop::agent {

/// What is asked for.
struct JobRequest {
  std::string name;    ///< of the client's certificate
  std::string job_id;  ///< the client's
  int instances = 0;   ///< on this host
};

/// What runs, and how much of it may, for one name and for all together.
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
  /// `self`: the user as whom the service runs. `make_token`: makeJobToken, but in tests.
  Admission(UsersFile users, UnixUser self, std::function<Result<std::string>()> make_token);

  /// kPermissionDenied: not this name, or not as its user. kResourceExhausted: a limit, named.
  /// kAlreadyExists: the job runs. kInvalidArgument: no id, or no number of instances.
  Result<AdmittedJob> admit(const JobRequest& request);

  /// Whether `name` may go on with the job; the same answer for a job that is not there and one that is
  /// another's, so that nobody learns of jobs by asking.
  Status mayContinue(std::string_view name, const std::string& job_id, std::string_view token) const;

  /// The job's launcher asks its agent to start so many: kPermissionDenied, kResourceExhausted and
  /// kInvalidArgument as for admit(). The job counts as the most that it has asked for: whether an agent does
  /// what it is asked, and what of an earlier run still lives, is not known here.
  Status admitRun(const std::string& job_id, int instances);

  /// The job is over. Ignored when it is not there.
  void release(const std::string& job_id);

  /// From now on; jobs that run go on, but those of users who are no longer named start nothing more and
  /// cannot be come back to.
  void setUsers(UsersFile users) { users_ = std::move(users); }

  /// Whether this certificate's name may do anything here.
  Status checkUser(const std::string& name) const;

  /// Whether jobs of the Unix user may still be started.
  bool mayRun(const std::string& unix_user) const;

  /// kPermissionDenied: `name` may do nothing here.
  Result<JobUsage> usageOf(const std::string& name) const;

 private:
  struct Job {
    std::string name;
    std::string token;
    int instances = 0;  ///< the most that it has asked for
  };

  Status checkJobs(const std::string& name) const;
  Status checkInstances(const std::string& name, int more) const;
  /// What runs; of one name, or of all when that is empty.
  JobLimits running(std::string_view name) const;

  UsersFile users_;
  UnixUser self_;
  std::function<Result<std::string>()> make_token_;
  std::map<std::string, Job> jobs_;
};

/// 128 random bits from the kernel, in hexadecimal digits.
Result<std::string> makeJobToken();

/// Takes the same time wherever two texts of one length differ.
bool equalInConstantTime(std::string_view a, std::string_view b);

/// Why the service must not listen at `address`. Without certificates it does not know who asks: it serves
/// this host only, and only as a user who is not root.
Status checkListening(const std::string& address, bool has_tls, uid_t self);

}  // namespace pop::agent
