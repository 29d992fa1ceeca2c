// SPDX-License-Identifier: Apache-2.0
#include "popdistd/agents/hosts_controller.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/model/end_times.h"
#include "common/model/placement.h"
#include "common/sys/job_names.h"
#include "common/sys/random_name.h"
#include "common/wire/stream_call.h"
#include "popdistd/agents/own_address.h"
#include "popdistd/agents/waiting_line.h"

namespace pop {
namespace {

using namespace std::chrono_literals;

// Whoever types Ctrl-Z wants the prompt, whatever the hosts do.
constexpr std::chrono::milliseconds kStopTimeout = 1s;

// Instances run where poprun was started, on every host: an agent starts elsewhere.
Status nameDirectories(model::JobSpec& spec) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error);
  if (error) return errnoStatus("finding out the working directory", error.value());
  for (model::Program& program : spec.programs) {
    if (program.working_directory.empty()) program.working_directory = here;
  }
  return {};
}

// By name: a job that goes on without some of its hosts counts them anew.
std::set<std::string> stdinHosts(const model::StdinPolicy& policy,
                                 const std::vector<PlacedInstance>& instances) {
  using Who = model::StdinPolicy::Who;
  std::set<std::string> hosts;
  for (std::size_t index = 0; index < instances.size(); ++index) {
    if (policy.who == Who::kAll || (policy.who == Who::kOne && std::cmp_equal(policy.instance, index)))
      hosts.insert(instances[index].host);
  }
  return hosts;
}

}  // namespace

HostsController::HostsController(os::EpollLoop& loop, OutputSink& sink, HostsSettings settings,
                                 std::vector<BootstrapPart> parts, ServicePart service)
    : loop_(loop),
      settings_(std::move(settings)),
      parts_(std::move(parts)),
      service_(std::move(service)),
      output_(sink),
      stdin_(loop) {}

HostsController::~HostsController() {
  for (const std::optional<TimerId>& timer : {timeout_, stop_timeout_}) {
    if (timer) loop_.cancel(*timer);
  }
}

Status HostsController::submit(model::JobSpec spec, JobWatch watch) {
  if (spec.executable_cache_path.empty()) spec.executable_cache_path = job_directory_ = freshDirectory();
  POP_RETURN_IF_ERROR(nameDirectories(spec));
  spec_ = spec;
  job_id_ = sys::randomName();
  watch_ = watch;
  watch.event = [this](const LogEntry& entry) { note(entry); };
  watch.placed = [this](const std::vector<PlacedInstance>& instances) {
    stdin_hosts_ = stdinHosts(spec_.stdin_policy, instances);
    if (watch_.placed) watch_.placed(instances);
  };
  std::vector<Agent*> agents;
  for (const model::Host& host : spec.hosts) {
    hosts_.push_back(std::make_unique<Host>(loop_, output_.add(), settings_.times));
    hosts_.back()->name = host.name;
    hosts_.back()->agent.setOnStopConfirmed([this] { tellWhenStopped(); });
    agents.push_back(&hosts_.back()->agent);
  }
  for (const model::InstancePlacement& each : model::place(spec_))
    ++hosts_.at(static_cast<std::size_t>(each.host))->num_instances;
  for (const int host : service_.hosts) {
    Host& each = *hosts_.at(static_cast<std::size_t>(host));
    const ServiceLine line = service_.dial(loop_, each.name);
    link(each, line.call, helloTo(each, {}));
    each.link->endJobBy(line.end_job);
  }
  for (const BootstrapPart& part : parts_) part.bootstrapper->start(eventsFor(part.hosts));
  timeout_ = loop_.postAfter(kFirstNotice, [this] { sayWhoIsWaitedFor(); });
  JobIdentity identity{.id = job_id_, .key = randomKey()};
  if (spec.host_subnet.empty()) identity.correct = correctOwnAddress;
  job_ =
      std::make_unique<Job>(loop_, std::move(identity), std::move(spec), std::move(agents), std::move(watch));
  job_->start();
  return {};
}

BootstrapEvents HostsController::eventsFor(const std::vector<int>& hosts) {
  const auto at = [this, hosts](int index) -> Host& {
    return *hosts_.at(static_cast<std::size_t>(hosts.at(static_cast<std::size_t>(index))));
  };
  return {.reached = [this, at](int index, ReachedHost how) { reached(at(index), std::move(how)); },
          .failed = [this, at](int index, Status why) { failed(at(index), std::move(why)); },
          .ended = [this, at](int index, int exit_code) { ended(at(index), exit_code); },
          .phase = [at](int index, const std::string& phase) { at(index).phase = phase; },
          .said =
              [this, at](int index, const std::string& line) {
                settings_.say("poprun: " + at(index).name + ": " + printable(line));
              }};
}

void HostsController::reached(Host& host, ReachedHost how) {
  if (shutting_down_) return;  // its stream ends with this, and so does its agent
  wire::v1::Hello hello = helloTo(host, how);
  link(host, wire::callOver(loop_, std::move(how.stream)), std::move(hello));
}

void HostsController::link(Host& host, const wire::CallMaker& call, wire::v1::Hello hello) {
  host.phase = "waiting for its agent's answer";
  host.link = std::make_unique<HostLink>(loop_, call, host.agent,
                                         [this, &host] { loop_.post([this, &host] { over(host); }); });
  if (service_.explain)
    host.link->explainBy([this, &host](const Status& why) { return service_.explain(host.name, why); });
  host.link->brokenBy(host.why_broken);
  host.link->hello(std::move(hello), settings_.connect_timeout);
  settle(host);
}

void HostsController::over(Host& host) {
  if (host.link && host.link->isEndingJob()) return;
  host.over = true;
  if (host.link && host.asked_to_end) host.end = host.link->howItEnded();
  host.agent.linkLost(unavailable("its link was closed"));  // it may have come up meanwhile
  host.link.reset();
  tellWhenOver();
}

// An agent that fails as soon as it runs has ended before we hear that it was reached.
void HostsController::ended(Host& host, int exit_code) {
  host.why_broken = whyStreamEnded(exit_code);
  if (host.link) host.link->brokenBy(host.why_broken);
}

wire::v1::Hello HostsController::helloTo(const Host& host, const ReachedHost& how) const {
  wire::v1::Hello hello;
  hello.set_job_id(job_id_);
  hello.set_host_name(host.name);
  hello.set_subnet(spec_.host_subnet);
  hello.set_reached_at(how.peer_address);
  hello.set_controller_at(how.local_address);
  hello.set_silence_ms(static_cast<std::uint32_t>(settings_.times.silence.count()));
  hello.set_whole_lines_out(settings_.whole_lines_out);
  hello.set_whole_lines_err(settings_.whole_lines_err);
  hello.set_job_directory(job_directory_);
  if (spec_.make_executable_cache) hello.set_executable_cache(spec_.executable_cache_path);
  hello.set_num_instances(host.num_instances);
  return hello;
}

void HostsController::failed(Host& host, Status why) {
  host.failed = std::move(why);
  host.over = true;
  settle(host);
}

// Whatever is wrong is said of all hosts at once: nobody wants to mend one host after the other.
void HostsController::settle(Host& host) {
  if (std::exchange(host.settled, true) || ++settled_ < hosts_.size()) return;
  for (const std::unique_ptr<Host>& each : hosts_) {
    if (!each->failed.ok()) each->agent.linkLost(each->failed);
  }
}

void HostsController::sayWhoIsWaitedFor() {
  timeout_.reset();
  std::vector<std::string> waiting;
  for (const std::unique_ptr<Host>& host : hosts_) {
    if (!host->over && host->agent.isAwaited()) waiting.push_back(host->name + ": " + host->phase);
  }
  if (waiting.empty()) return;
  settings_.say(waitingLine(std::move(waiting), hosts_.size()));
  timeout_ = loop_.postAfter(kNextNotice, [this] { sayWhoIsWaitedFor(); });
}

void HostsController::note(const LogEntry& entry) {
  if (shutting_down_) return;  // that agents end is no news any more
  if (entry.kind == EventKind::kJobStarting) relayStdin();
  watch_.event(entry);
}

void HostsController::relayStdin() {
  std::vector<RemoteAgent*> agents;
  for (const std::unique_ptr<Host>& host : hosts_) {
    if (stdin_hosts_.contains(host->name)) agents.push_back(&host->agent);
  }
  if (const Status begun = stdin_.begin(agents); !begun.ok())
    settings_.say("poprun: stdin: " + begun.message() + "; that of the instances ends (see `ulimit -n`)");
}

void HostsController::stop(int user_signal) {
  if (job_) job_->stop(user_signal);
}

void HostsController::signal(int signal) {
  if (signal == SIGCONT) forgetStop();
  if (job_) job_->signal(signal);
}

void HostsController::suspend(std::function<void()> stopped) {
  stopped_ = std::move(stopped);
  signal(SIGSTOP);
  stop_timeout_ = loop_.postAfter(kStopTimeout, [this] {
    stop_timeout_.reset();
    if (const auto tell = std::exchange(stopped_, nullptr)) tell();
  });
  tellWhenStopped();
}

void HostsController::forgetStop() {
  if (stop_timeout_) loop_.cancel(*std::exchange(stop_timeout_, std::nullopt));
  stopped_ = nullptr;
}

void HostsController::tellWhenStopped() {
  for (const std::unique_ptr<Host>& host : hosts_) {
    if (!host->agent.confirmsStop()) return;
  }
  if (!stop_timeout_) return;
  loop_.cancel(*std::exchange(stop_timeout_, std::nullopt));
  if (const auto tell = std::exchange(stopped_, nullptr)) tell();
}

// Each agent that was reached ends what the job has left on its host, and then the call.
Status HostsController::shutDown() {
  if (timeout_) loop_.cancel(*std::exchange(timeout_, std::nullopt));
  shutting_down_ = true;
  stdin_.finish();
  stopped_ = nullptr;
  for (const std::unique_ptr<Host>& host : hosts_) {
    host->asked_to_end = host->link && !host->agent.lost();
    if (host->link) host->link->finish();
  }
  for (const BootstrapPart& part : parts_) part.bootstrapper->endBy(loop_.now() + kAgentEndTimeout);
  const TimerId limit = loop_.postAfter(kAgentEndTimeout, [this] { loop_.stop(); });
  tellWhenOver();
  loop_.run();
  loop_.cancel(limit);
  parts_.clear();
  return howAllEnded();
}

// Of hosts that were lost before, the job has told.
Status HostsController::howAllEnded() const {
  std::vector<std::string> silent, words;
  for (const std::unique_ptr<Host>& host : hosts_) {
    if (!host->asked_to_end) continue;
    if (!host->over) silent.push_back(host->name);
    if (!host->end.ok()) words.push_back("host " + host->name + ": " + printable(host->end.message()));
  }
  if (!silent.empty()) {
    words.push_back("the agents of " + join(silent, ", ") +
                    " have not said that they have ended all processes of the job; they do so once they "
                    "notice that nobody listens any more");
  }
  return words.empty() ? Status() : Status(Code::kDeadlineExceeded, join(words, "; "));
}

void HostsController::tellWhenOver() {
  if (!shutting_down_) return;
  for (const std::unique_ptr<Host>& host : hosts_) {
    if (host->link && !host->over && (host->link->isEndingJob() || !host->agent.lost())) return;
  }
  loop_.post([this] { loop_.stop(); });
}

}  // namespace pop
