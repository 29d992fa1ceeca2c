// SPDX-License-Identifier: Apache-2.0
#include "agent/service/service.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/service/last_words.h"
#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/log/log.h"
#include "common/model/end_times.h"
#include "common/wire/command_outline.h"
#include "common/wire/message_stream.h"

namespace pop::agent {
namespace {

// Limit for an agent's first report, which is decoded here and can take many times its size.
constexpr std::size_t kMaxWelcomeBytes = 64 << 10;

// The id as it is logged; a refused id may be too long.
constexpr std::size_t kMaxIdBytes = 128;

// Limit for an agent's words in the log, which its user controls.
constexpr std::size_t kMaxWordsBytes = 1000;

// Only their jobs stop agents.
constexpr std::chrono::milliseconds kBetweenLooks{1000};
constexpr int kMostStops = 3;

// Time between the end of an agent's streams and the end of its process: the kernel closes the streams first.
constexpr std::chrono::milliseconds kReapTimeout{100};

wire::v1::JobCount encode(const JobLimits& count) {
  wire::v1::JobCount encoded;
  encoded.set_jobs(count.jobs);
  encoded.set_instances(count.instances);
  return encoded;
}

// The agent is killed; its keeper ends the rest.
Status notEnded() {
  return {Code::kDeadlineExceeded, "the popdist-agent there did not end all processes of the job within " +
                                       secondsText(kServiceEndTimeout) + " s; it was killed"};
}

}  // namespace

// One call, and the agent that handles it.
struct Service::Job {
  std::shared_ptr<wire::ServedCall> call;
  std::string name;  ///< of the certificate
  std::string id;    ///< once it is admitted
  std::string token;
  JobProcess process;
  std::optional<LastWords> last_words;  ///< once it has a process
  std::unique_ptr<wire::MessageStream> agent;
  bool welcomed = false;
  std::optional<TimerId> end_timer;
  Clock::time_point started;  ///< once it has a process
  Status cut_short;           ///< why it was told to end
  bool ended = false;
};

Service::Service(os::EpollLoop& loop, Admission admission, std::string agent, ServiceSettings settings)
    : loop_(loop),
      admission_(std::move(admission)),
      agent_(std::move(agent)),
      settings_(std::move(settings)),
      reaper_(loop, settings_.holds),
      spares_(loop, settings_.spares, [this](const std::string& user) {
        return startJobProcess(user, {agent_, "--stdio", "--wait"}, agent_, reaper_, settings_.known(user));
      }) {
  lookForStopped();
}

Service::~Service() {
  if (stop_timer_) loop_.cancel(*stop_timer_);
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (job->end_timer) loop_.cancel(*job->end_timer);
    unwatch(*job);
  }
}

void Service::unwatch(Job& job) {
  job.last_words.reset();
  if (job.process.pidfd() >= 0) loop_.unwatch(job.process.pidfd());
}

const std::string& Service::nameOf(const wire::Peer& peer) const {
  return settings_.own_name.empty() ? peer.name : settings_.own_name;
}

Status Service::checkHere(const wire::Peer& peer) const {
  const auto is_ours = [this](const std::string& host) {
    const auto& ours = settings_.host_names;
    return std::find(ours.begin(), ours.end(), lowerCase(host)) != ours.end();
  };
  if (peer.job_id.empty() || std::any_of(peer.hosts.begin(), peer.hosts.end(), is_ours)) return {};
  return {Code::kPermissionDenied, "the certificate of job " + inQuotes(peer.job_id) +
                                       " is good on the job's hosts only, and " +
                                       join(settings_.host_names, ", ") + " is none of them"};
}

Status Service::checkJob(const wire::Peer& peer, const std::string& job_id) const {
  if (peer.job_id.empty() || peer.job_id == job_id) return checkHere(peer);
  return {Code::kPermissionDenied,
          "the certificate of job " + inQuotes(peer.job_id) + " is for that job only"};
}

Result<wire::v1::HostDescription> Service::describe(const wire::Peer& peer) const {
  POP_RETURN_IF_ERROR(checkHere(peer));
  POP_ASSIGN_OR_RETURN(const JobUsage usage, admission_.usageOf(nameOf(peer)));
  wire::v1::HostDescription description;
  description.set_protocol(contract::kAgentProtocol);
  description.set_version(contract::kVersion);
  description.set_user(usage.unix_user);
  *description.mutable_own_running() = encode(usage.own_running);
  *description.mutable_own_limits() = encode(usage.own_limits);
  *description.mutable_running() = encode(usage.running);
  *description.mutable_limits() = encode(usage.limits);
  return description;
}

void Service::accept(std::shared_ptr<wire::ServedCall> call) {
  if (stopped_) return call->finish(unavailable("the agent service of this host is being stopped"));
  Job& job = *jobs_.emplace_back(std::make_unique<Job>());
  job.call = std::move(call);
  job.name = nameOf(job.call->peer());
  job.call->listen({.command = [this, &job](wire::v1::Command command) { receive(job, std::move(command)); },
                    .closed =
                        [this, &job] {
                          requestEnd(job, {Code::kCancelled, "its launcher has closed the connection"});
                        }});
}

void Service::receive(Job& job, wire::v1::Command command) {
  if (!command.has_hello()) return end(job, invalidArgument("the first command is not Hello"));
  begin(job, std::move(command));
}

// The launcher announces its instances in Hello; a restart on fewer hosts may place more of them here.
void Service::forward(Job& job, std::string_view command) {
  const Status allowed = mayForward(job, command);
  if (allowed.ok()) return job.agent->send(command);
  log::info("job " + printable(job.id) + " of " + inQuotes(job.name) + ": " + allowed.message());
  job.call->finish(allowed);
  requestEnd(job, allowed);
}

Status Service::mayForward(const Job& job, std::string_view command) {
  POP_ASSIGN_OR_RETURN(const wire::CommandOutline outline, wire::outlineOf(command));
  return outline.is_run ? admission_.admitRun(job.id, outline.instances) : Status();
}

// Only the first of an agent's reports matters here; the launcher trusts none of them.
void Service::report(Job& job, const std::string& report) {
  job.welcomed ? job.call->relay(report) : welcome(job, report);
}

void Service::welcome(Job& job, const std::string& report) {
  wire::v1::Report decoded;
  if (!decoded.ParseFromString(report))
    return agentEnded(job, {Code::kDataLoss, "the agent sent a malformed report"});
  job.welcomed = true;
  job.agent->setMostBytes(wire::kMaxMessageBytes);
  if (decoded.has_welcome()) decoded.mutable_welcome()->set_token(job.token);
  job.call->send(std::move(decoded));
}

void Service::begin(Job& job, wire::v1::Command hello) {
  const std::string id = hello.hello().job_id();
  const Status started = start(job, std::move(hello));
  log::info("job " + printable(std::string_view(id).substr(0, kMaxIdBytes)) + " of " + inQuotes(job.name) +
            ": " + (started.ok() ? "started, pid " + std::to_string(job.process.pid()) : started.message()));
  if (!started.ok()) end(job, started);
}

Status Service::start(Job& job, wire::v1::Command hello) {
  POP_RETURN_IF_ERROR(checkJob(job.call->peer(), hello.hello().job_id()));
  const JobRequest request{job.name, hello.hello().job_id(), static_cast<int>(hello.hello().num_instances())};
  POP_ASSIGN_OR_RETURN(const AdmittedJob admitted, admission_.admit(request));
  job.id = request.job_id;
  job.token = admitted.token;
  job.call->trust();
  POP_ASSIGN_OR_RETURN(job.process, spares_.take(admitted.user.name));
  job.started = loop_.now();
  hello.mutable_hello()->set_controller_at(job.call->peerAddress());
  job.agent = std::make_unique<wire::MessageStream>(
      loop_, std::move(job.process.stream()), sys::Fd(),
      wire::MessageStream::Events{.message = [this, &job](const std::string& each) { report(job, each); },
                                  .ended = [this, &job](const Status& why) { agentEnded(job, why); }});
  job.agent->setMostBytes(kMaxWelcomeBytes);
  job.agent->setMostUnsent(wire::kMaxMessageBytes);
  job.agent->gather();
  job.agent->send(hello);
  job.call->relayCommands([this, &job](std::string_view bytes) { forward(job, bytes); });
  job.last_words.emplace(loop_, std::move(job.process.errors()));
  return {};
}

// A broken stream does not tell the reason; the process's exit status and its last output may. They can take
// a moment, in which the service handles other calls.
void Service::agentEnded(Job& job, const Status& why) {
  if (job.ended) return;
  if (why.code() == Code::kResourceExhausted)
    return end(job, {why.code(), "the popdist-agent there: " + why.message()});
  if (why.code() != Code::kUnavailable) return end(job, why);
  if (job.end_timer) loop_.cancel(*job.end_timer);
  job.end_timer = loop_.postAfter(kReapTimeout, [this, &job] { sayHowItEnded(job); });
  loop_.watchReadable(job.process.pidfd(), [this, &job] { sayHowItEnded(job); });
}

void Service::sayHowItEnded(Job& job) {
  end(job, unavailable("the popdist-agent there " + describeEnd(job.process, *job.last_words)));
}

// The agent ends all its processes, and then its call. An agent that does not is killed; if it hangs, its
// keeper kills it when the stream is closed.
void Service::requestEnd(Job& job, const Status& why) {
  if (job.cut_short.ok()) job.cut_short = why;
  if (!job.agent) return end(job, why);
  job.agent->end({});
  job.agent->hangUp();
  if (!job.end_timer && !job.ended)
    job.end_timer = loop_.postAfter(kServiceEndTimeout, [this, &job] { end(job, notEnded()); });
}

void Service::end(Job& job, const Status& why) {
  if (std::exchange(job.ended, true)) return;
  if (job.end_timer) loop_.cancel(*std::exchange(job.end_timer, std::nullopt));
  if (job.started != Clock::time_point()) logEnd(job, why);
  unwatch(job);
  // From the loop: this may be a call of the job's own members.
  loop_.post([this, &job, why] { clear(job, why); });
}

// The job is over when nothing of it runs here: then others have its place.
void Service::clear(Job& job, const Status& why) {
  job.call->relayCommands(nullptr);
  const auto over = [this, &job, why] {
    job.call->finish(why);
    if (!job.id.empty()) admission_.release(job.id);
    forget(job);
  };
  if (!job.agent) return over();
  job.agent.reset();
  job.process.clear(over);
}

void Service::lookForStopped() {
  stop_timer_ = loop_.postAfter(kBetweenLooks, [this] {
    lookForStopped();
    for (const std::unique_ptr<Job>& job : jobs_) {
      if (!job->ended && job->process.continueIfStopped() > kMostStops)
        end(*job, unavailable("the popdist-agent there was stopped over and over, and was killed"));
    }
  });
}

// The launcher may be gone, and would not tell anybody.
void Service::logEnd(const Job& job, const Status& why) const {
  const Status& cause = why.ok() || why.code() == Code::kUnavailable ? job.cut_short : why;
  const Status& how = cause.ok() ? why : cause;
  const auto lived = std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - job.started);
  const std::string line =
      "job " + printable(job.id) + " of " + inQuotes(job.name) + ": over after " + secondsText(lived) + " s" +
      (how.ok() ? "" : ": ") +
      printable(std::string_view(how.message()).substr(0, kMaxWordsBytes));  // an agent's, maybe
  why.code() == Code::kDeadlineExceeded ? log::warning(line) : log::info(line);
}

void Service::forget(Job& job) {
  job.call->listen({});  // the launcher's messages since then come too late
  std::erase_if(jobs_, [&job](const auto& each) { return each.get() == &job; });
  if (stopped_ && jobs_.empty()) stopped_();
}

Status Service::endJob(const wire::Peer& peer, const std::string& job_id, const std::string& token) {
  POP_RETURN_IF_ERROR(checkJob(peer, job_id));
  POP_RETURN_IF_ERROR(admission_.mayContinue(nameOf(peer), job_id, token));
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (job->id != job_id || job->ended) continue;
    const Status why{Code::kCancelled, "its launcher ended it"};
    job->call->finish(why);
    job->cut_short = why;  // says more than that its connection broke, which may have been seen first
    requestEnd(*job, why);
  }
  return {};
}

bool Service::runsJob(const std::string& job_id) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->id == job_id; });
}

void Service::setUsers(UsersFile users) {
  admission_.setUsers(std::move(users));
  spares_.renew([this](const std::string& user) { return admission_.mayRun(user); });
}

void Service::stop(std::function<void()> stopped) {
  stopped_ = std::move(stopped);
  if (jobs_.empty()) return stopped_();
  const Status why = unavailable("the agent service there was stopped");
  for (const std::unique_ptr<Job>& job : jobs_) {
    job->call->finish(why);
    requestEnd(*job, why);
  }
}

}  // namespace pop::agent
