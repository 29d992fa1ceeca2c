// SPDX-License-Identifier: Apache-2.0
#include "agent/service/service.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"

namespace pop::agent {

// One call, and the agent that serves it.
struct Service::Job {
  std::shared_ptr<rpc::RunCall> call;
  std::string name;  ///< of the certificate
  std::string id;    ///< once it is admitted
  JobProcess process;
  std::unique_ptr<rpc::AgentCall> agent;
  std::string last_words;  ///< what the agent says on stderr, its end
  bool ended = false;
};

Service::Service(os::AsioLoop& loop, Admission admission, std::string agent, ServiceSettings settings)
    : loop_(loop),
      admission_(std::move(admission)),
      agent_(std::move(agent)),
      settings_(std::move(settings)),
      spares_(loop, settings_.spares, [this](const std::string& user) {
        return startJobProcess(user, {agent_, "--stdio", "--wait"}, agent_);
      }) {}

Service::~Service() {
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (job->process.errors().valid()) loop_.unwatch(job->process.errors().get());
  }
}

void Service::accept(std::shared_ptr<rpc::RunCall> call) {
  Job& job = *jobs_.emplace_back(std::make_unique<Job>());
  job.call = std::move(call);
  job.name = settings_.own_name.empty() ? job.call->peerName() : settings_.own_name;
  job.call->listen({.command = [this, &job](rpc::v1::Command command) { receive(job, std::move(command)); },
                    .closed =
                        [this, &job] {
                          if (job.agent) return job.agent->close();
                          end(job, {Code::kCancelled, "the launcher is gone"});
                        }});
}

void Service::receive(Job& job, rpc::v1::Command command) {
  if (job.agent) return job.agent->send(std::move(command));
  if (!command.has_hello()) return end(job, invalidArgument("the first command is not Hello"));
  begin(job, std::move(command));
}

void Service::begin(Job& job, rpc::v1::Command hello) {
  const std::string id = hello.hello().job_id();
  const Status started = start(job, std::move(hello));
  log::info("job " + printable(id) + " of " + inQuotes(job.name) + ": " +
            (started.ok() ? "started, pid " + std::to_string(job.process.pid()) : started.message()));
  if (!started.ok()) end(job, started);
}

Status Service::start(Job& job, rpc::v1::Command hello) {
  const JobRequest request{job.name, hello.hello().job_id(), static_cast<int>(hello.hello().num_instances())};
  POP_ASSIGN_OR_RETURN(const AdmittedJob admitted, admission_.admit(request));
  job.id = request.job_id;
  POP_ASSIGN_OR_RETURN(job.process, spares_.take(admitted.user.name));
  hello.mutable_hello()->set_controller_at(job.call->peerAddress());
  job.agent = std::make_unique<rpc::AgentCall>(
      loop_, rpc::channelOver(std::move(job.process.stream())),
      rpc::AgentCall::Events{.report = [&job](rpc::v1::Report report) { job.call->send(std::move(report)); },
                             .ended = [this, &job](const Status& why) { end(job, why); }});
  job.agent->send(std::move(hello));
  loop_.watchReadable(job.process.errors().get(), [this, &job] { readErrors(job); });
  return {};
}

void Service::readErrors(Job& job) {
  constexpr std::size_t kMostBytes = 1000;
  std::array<char, 4096> chunk{};
  const ssize_t got = ::read(job.process.errors().get(), chunk.data(), chunk.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return loop_.unwatch(job.process.errors().get());
  job.last_words.append(chunk.data(), static_cast<std::size_t>(got));
  if (job.last_words.size() > kMostBytes) job.last_words.erase(0, job.last_words.size() - kMostBytes);
}

void Service::end(Job& job, const Status& why) {
  if (std::exchange(job.ended, true)) return;
  std::string words(trimmed(job.last_words));
  while (words.ends_with('\n')) words.pop_back();
  const bool explained = why.ok() || words.empty();
  job.call->finish(explained ? why
                             : Status(why.code(), why.message() + " (it said: " + printable(words) + ")"));
  if (!job.id.empty()) admission_.release(job.id);
  if (job.process.errors().valid()) loop_.unwatch(job.process.errors().get());
  // From the loop: this may be a call of the job's own members.
  loop_.post(
      [this, gone = &job] { std::erase_if(jobs_, [gone](const auto& each) { return each.get() == gone; }); });
}

}  // namespace pop::agent
