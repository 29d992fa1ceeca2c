// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/hosts_controller.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/model/placement.h"
#include "common/sys/job_names.h"
#include "common/sys/random_name.h"
#include "common/sys/working_directory.h"
#include "controller/hosts/own_address.h"

namespace pop {
namespace {

using namespace std::chrono_literals;

// After Ctrl-Z the user wants the prompt back, whatever the hosts do.
constexpr std::chrono::milliseconds kStopTimeout = 1s;

// Instances run where poprun was started, on every host: an agent starts elsewhere.
Status nameDirectories(model::JobSpec& spec) {
  POP_ASSIGN_OR_RETURN(const std::string here, sys::workingDirectory());
  for (model::Program& program : spec.programs) {
    if (program.working_directory.empty()) program.working_directory = here;
  }
  return {};
}

// By name, because a job that continues without some of its hosts renumbers them.
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
                                 HostAccess access)
    : loop_(loop),
      settings_(std::move(settings)),
      output_(sink),
      conversations_(loop, std::move(access)),
      stdin_(loop) {}

HostsController::~HostsController() {
  if (stop_timeout_) loop_.cancel(*stop_timeout_);
}

Status HostsController::submit(model::JobSpec spec, JobWatch watch) {
  if (spec.executable_cache_path.empty()) spec.executable_cache_path = job_directory_ = freshDirectory();
  POP_RETURN_IF_ERROR(nameDirectories(spec));
  spec_ = spec;
  job_id_ = settings_.job_id.empty() ? sys::randomName() : settings_.job_id;
  watch_ = watch;
  watch.event = [this](const LogEntry& entry) { note(entry); };
  watch.placed = [this](const std::vector<PlacedInstance>& instances) {
    stdin_hosts_ = stdinHosts(spec_.stdin_policy, instances);
    if (watch_.placed) watch_.placed(instances);
  };
  std::vector<Agent*> agents = addHosts(helloToAll());
  conversations_.start();
  JobIdentity identity{.id = job_id_, .key = randomKey()};
  if (spec.host_subnet.empty()) identity.correct = correctOwnAddress;
  job_ =
      std::make_unique<Job>(loop_, std::move(identity), std::move(spec), std::move(agents), std::move(watch));
  job_->start();
  return {};
}

std::vector<Agent*> HostsController::addHosts(const wire::v1::Hello& hello) {
  std::vector<std::uint32_t> num_instances(spec_.hosts.size());
  for (const model::InstancePlacement& each : model::place(spec_))
    ++num_instances.at(static_cast<std::size_t>(each.host));
  std::vector<Agent*> agents;
  for (std::size_t host = 0; host < spec_.hosts.size(); ++host) {
    wire::v1::Hello own = hello;
    own.set_num_instances(num_instances[host]);
    hosts_.push_back(std::make_unique<JobHost>(loop_, conversations_, spec_.hosts[host].name, std::move(own),
                                               output_.add(), settings_.times));
    hosts_.back()->agent().setOnStopConfirmed([this] { tellWhenStopped(); });
    agents.push_back(&hosts_.back()->agent());
  }
  return agents;
}

wire::v1::Hello HostsController::helloToAll() const {
  wire::v1::Hello hello;
  hello.set_job_id(job_id_);
  hello.set_subnet(spec_.host_subnet);
  hello.set_silence_ms(static_cast<std::uint32_t>(settings_.times.silence.count()));
  hello.set_whole_lines_out(settings_.whole_lines_out);
  hello.set_whole_lines_err(settings_.whole_lines_err);
  hello.set_job_directory(job_directory_);
  if (spec_.make_executable_cache) hello.set_executable_cache(spec_.executable_cache_path);
  return hello;
}

void HostsController::note(const LogEntry& entry) {
  if (shutting_down_) return;  // that agents end is no news any more
  if (entry.kind == EventKind::kJobStarting) relayStdin();
  watch_.event(entry);
}

void HostsController::relayStdin() {
  std::vector<RemoteAgent*> agents;
  for (const std::unique_ptr<JobHost>& host : hosts_) {
    if (stdin_hosts_.contains(host->name())) agents.push_back(&host->agent());
  }
  if (const Status begun = stdin_.begin(agents); !begun.ok())
    conversations_.access().say("poprun: stdin: " + begun.message() +
                                "; the instances' stdin is closed (see `ulimit -n`)");
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
  for (const std::unique_ptr<JobHost>& host : hosts_) {
    if (!host->agent().confirmsStop()) return;
  }
  if (!stop_timeout_) return;
  loop_.cancel(*std::exchange(stop_timeout_, std::nullopt));
  if (const auto tell = std::exchange(stopped_, nullptr)) tell();
}

// Each agent that was reached ends the job's remaining processes on its host, and then the call.
Status HostsController::shutDown() {
  shutting_down_ = true;
  stdin_.finish();
  stopped_ = nullptr;
  for (const std::unique_ptr<JobHost>& host : hosts_) host->expectEnd();
  conversations_.finish();
  conversations_.runToEnd();
  return howAllEnded();
}

// The job has already reported hosts that were lost before.
Status HostsController::howAllEnded() const {
  std::vector<std::string> silent, words;
  for (const std::unique_ptr<JobHost>& host : hosts_) {
    if (host->endIsLate()) silent.push_back(host->name());
    if (!host->end().ok()) words.push_back("host " + host->name() + ": " + printable(host->end().message()));
  }
  if (!silent.empty()) {
    words.push_back("the agents of " + join(silent, ", ") +
                    " did not confirm that all processes of the job have ended; they end them when they "
                    "notice that poprun is gone");
  }
  return words.empty() ? Status() : Status(Code::kDeadlineExceeded, join(words, "; "));
}

}  // namespace pop
