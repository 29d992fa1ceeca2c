// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/several.h"

#include <vector>

#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"

namespace pop::popctl {
namespace {

constexpr int kJobsOfAPage = 1000;

// The server would refuse the request for jobs in other states.
std::vector<v1::JobState> statesFor(Action action) {
  switch (action) {
    case Action::kHoldJob:
      return {v1::JOB_QUEUED};
    case Action::kReleaseJob:
      return {v1::JOB_HELD};
    case Action::kForgetJob:
      return {v1::JOB_ENDED};
    default:
      return {v1::JOB_QUEUED, v1::JOB_HELD, v1::JOB_STARTING, v1::JOB_RUNNING, v1::JOB_ENDING};
  }
}

// The caller's own, if no user is named.
Result<std::vector<std::string>> found(const Command& command, ControllerClient& client) {
  v1::ListJobsRequest request;
  request.set_user(command.filter.user);
  if (request.user().empty()) {
    POP_ASSIGN_OR_RETURN(const v1::AboutReply about, client.about({}));
    request.set_user(about.user());
  }
  request.set_name(command.filter.name);
  request.set_page_size(kJobsOfAPage);
  request.set_brief(true);
  for (const v1::JobState state : statesFor(command.action)) request.add_states(state);
  std::vector<std::string> jobs;
  do {
    POP_ASSIGN_OR_RETURN(const v1::ListJobsReply page, client.list(request));
    for (const v1::JobInfo& job : page.jobs()) jobs.push_back(std::to_string(job.id()));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (jobs.empty()) return Status(Code::kNotFound, "there is no such job in a state for it");
  return jobs;
}

}  // namespace

int askOfSeveral(const Command& command, ControllerClient& client) {
  std::vector<std::string> jobs = command.objects;
  const bool has_filter = !command.filter.user.empty() || !command.filter.name.empty();
  if (jobs.empty() == !has_filter)
    return unusable(
        invalidArgument(command.words + ": which? Give numbers or names of jobs, or else --user or --name"));
  if (has_filter) {
    Result<std::vector<std::string>> all = found(command, client);
    if (!all.ok()) return failed(command, all.status());
    jobs = std::move(*all);
  }
  int exit_code = 0;
  for (std::string& job : jobs) {
    Command one = command;
    one.object = std::move(job);
    const int code = askOnce(one, client);
    if (exit_code == 0) exit_code = code;
  }
  return exit_code;
}

}  // namespace pop::popctl
