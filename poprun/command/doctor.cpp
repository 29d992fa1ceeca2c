// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/doctor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/model/end_times.h"
#include "common/model/host_list.h"
#include "common/model/placement.h"
#include "common/sys/host_name.h"
#include "common/sys/process_setup.h"
#include "common/sys/random_name.h"
#include "common/wire/agent_codec.h"
#include "common/wire/codec_parts.h"
#include "common/wire/stream_call.h"
#include "popdistd/agents/host_link.h"
#include "popdistd/agents/own_address.h"
#include "popdistd/agents/service_part.h"
#include "popdistd/agents/waiting_line.h"
#include "popdistd/controller/instance_env.h"
#include "poprun/command/host_findings.h"
#include "poprun/command/ssh_settings.h"
#include "poprun/plan/doctor_report.h"
#include "poprun/session/job_session.h"

namespace pop {
namespace {

// The first may find the way cold.
constexpr int kEchoes = 5;

std::chrono::milliseconds wallClock() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

std::string currentDirectory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

// One host's examination: hello, its answer, some echoes, the end.
struct ExaminedHost {
  HostFindings findings;
  std::string phase = "waiting for its turn";
  wire::v1::Hello hello;
  ServiceLine line;  ///< where it is reached by the agent service
  std::unique_ptr<wire::AgentCall> call;
  std::optional<TimerId> timeout;
  Clock::time_point sent;
  std::chrono::milliseconds clock_there{0};
  std::chrono::milliseconds clock_here{0};
  std::uint64_t echoes = 0;
  std::string why_broken;  ///< its stream; empty: it is not
  bool settled = false;    ///< all is known of it
  bool over = false;       ///< and its agent has ended
};

class Doctor {
 public:
  Doctor(os::EpollLoop& loop, const Options& options, const model::JobSpec& spec);

  void examine(std::vector<BootstrapPart> parts, const ServicePart& service);
  std::vector<HostFindings> findings() const;

 private:
  wire::v1::Hello helloTo(int host) const;
  void askService(ExaminedHost& host);
  BootstrapEvents eventsFor(const std::vector<int>& hosts);
  void link(ExaminedHost& host, const wire::CallMaker& call);
  void receive(ExaminedHost& host, const wire::v1::Report& report);
  void welcome(ExaminedHost& host, const wire::v1::Welcome& welcome);
  void sendEcho(ExaminedHost& host);
  void echoed(ExaminedHost& host);
  void finish(ExaminedHost& host);
  void fail(ExaminedHost& host, Status why);
  void settle(ExaminedHost& host);
  void over(ExaminedHost& host);
  Status late(const ExaminedHost& host) const;
  Status early(const ExaminedHost& host, const Status& why) const;
  void sayWhoIsWaitedFor();

  os::EpollLoop& loop_;
  const Options& options_;
  const model::JobSpec& spec_;
  const std::vector<model::InstancePlacement> placement_;
  const InstanceEnvs envs_;
  std::vector<std::unique_ptr<ExaminedHost>> hosts_;
  std::function<Status(const std::string& host, const Status& why)> explain_;  ///< of the agent service
  std::size_t num_over_ = 0;
};

Doctor::Doctor(os::EpollLoop& loop, const Options& options, const model::JobSpec& spec)
    : loop_(loop), options_(options), spec_(spec), placement_(model::place(spec)), envs_(spec, placement_) {
  for (int index = 0; index < static_cast<int>(spec.hosts.size()); ++index) {
    auto host = std::make_unique<ExaminedHost>();
    host->findings.name = spec.hosts[static_cast<std::size_t>(index)].name;
    host->findings.is_this_host = model::isThisHost(host->findings.name, sys::hostName());
    host->hello = helloTo(index);
    hosts_.push_back(std::move(host));
  }
}

wire::v1::Hello Doctor::helloTo(int host) const {
  const std::string& directory = spec_.programs.front().working_directory;
  wire::v1::Hello hello;
  hello.set_protocol(contract::kAgentProtocol);
  hello.set_version(contract::kVersion);
  hello.set_job_id(sys::randomName());  // a host that has two names is to say so by its address
  hello.set_host_name(spec_.hosts[static_cast<std::size_t>(host)].name);
  hello.set_subnet(spec_.host_subnet);
  hello.set_silence_ms(
      static_cast<std::uint32_t>((options_.hosts.connect_timeout + kAgentEndTimeout).count()));
  hello.set_num_instances(static_cast<std::uint32_t>(envs_.instancesOn(host)));
  wire::v1::Examination* const examination = hello.mutable_examination();
  examination->set_working_directory(directory.empty() ? currentDirectory() : directory);
  examination->set_port_count(envs_.portsOn(host));
  examination->set_detail(wire::encodeDetail(model::detailFor(spec_.binding)));
  return hello;
}

void Doctor::examine(std::vector<BootstrapPart> parts, const ServicePart& service) {
  explain_ = service.explain;
  for (const int host : service.hosts) {
    ExaminedHost& each = *hosts_.at(static_cast<std::size_t>(host));
    each.line = service.dial(loop_, each.findings.name);
    askService(each);
  }
  for (const BootstrapPart& part : parts) part.bootstrapper->start(eventsFor(part.hosts));
  loop_.postAfter(kFirstNotice, [this] { sayWhoIsWaitedFor(); });
  loop_.run();
  for (const std::unique_ptr<ExaminedHost>& host : hosts_)
    host->call.reset();  // agents end with their streams
}

void Doctor::askService(ExaminedHost& host) {
  host.phase = "waiting for its agent service's answer";
  host.line.describe(options_.hosts.connect_timeout,
                     [this, &host](const Result<wire::v1::HostDescription>& said) {
                       if (!said.ok()) return fail(host, explain_(host.findings.name, said.status()));
                       takeService(said.value(), host.findings);
                       link(host, host.line.call);
                     });
}

BootstrapEvents Doctor::eventsFor(const std::vector<int>& hosts) {
  const auto at = [this, hosts](int index) -> ExaminedHost& {
    return *hosts_.at(static_cast<std::size_t>(hosts.at(static_cast<std::size_t>(index))));
  };
  return {.reached =
              [this, at](int index, ReachedHost how) {
                ExaminedHost& host = at(index);
                host.findings.peer_address = how.peer_address;
                host.hello.set_reached_at(how.peer_address);
                host.hello.set_controller_at(how.local_address);
                link(host, wire::callOver(loop_, std::move(how.stream)));
              },
          .failed = [this, at](int index, Status why) { fail(at(index), std::move(why)); },
          .ended = [at](int index, int exit_code) { at(index).why_broken = whyStreamEnded(exit_code); },
          .phase =
              [at](int index, const std::string& phase) {
                ExaminedHost& host = at(index);
                host.phase = phase;
                host.findings.agent_copied |= phase == kCopyingPhase;
              },
          .said =
              [at](int index, const std::string& line) {
                std::fprintf(stderr, "poprun: %s: %s\n", at(index).findings.name.c_str(),
                             printable(line).c_str());
              }};
}

void Doctor::link(ExaminedHost& host, const wire::CallMaker& call) {
  host.phase = "waiting for its agent's answer";
  host.call = call({.report = [this, &host](const wire::v1::Report& report) { receive(host, report); },
                    .ended =
                        [this, &host](const Status& why) {
                          if (!std::exchange(host.settled, true)) host.findings.reached = early(host, why);
                          over(host);
                        }});
  host.timeout = loop_.postAfter(options_.hosts.connect_timeout, [this, &host] {
    host.timeout.reset();
    host.settled = true;
    host.findings.reached = late(host);
    over(host);
  });
  wire::v1::Command command;
  *command.mutable_hello() = host.hello;
  host.call->send(std::move(command));
}

// An agent looks at its host before it answers, and so waits for a file system that does not.
Status Doctor::late(const ExaminedHost& host) const {
  const std::chrono::milliseconds limit = options_.hosts.connect_timeout;
  if (host.echoes > 0)
    return {Code::kDeadlineExceeded, "its agent has answered, but not " + std::to_string(kEchoes) +
                                         " more times within " + std::to_string(limit.count()) +
                                         " ms (--connect-timeout): the way there is slow, or the host is"};
  return {Code::kDeadlineExceeded, noWelcome(limit).message() + "; does the working directory, " +
                                       host.hello.examination().working_directory() + ", answer there?"};
}

// Why a call has ended before it was done.
Status Doctor::early(const ExaminedHost& host, const Status& why) const {
  if (!host.why_broken.empty()) return unavailable(host.why_broken);
  if (why.ok()) return unavailable("the popdist-agent there has ended");
  return explain_ ? explain_(host.findings.name, why) : why;
}

void Doctor::receive(ExaminedHost& host, const wire::v1::Report& report) {
  if (host.settled) return;
  if (report.has_welcome()) return welcome(host, report.welcome());
  if (report.has_described()) echoed(host);
}

void Doctor::welcome(ExaminedHost& host, const wire::v1::Welcome& welcome) {
  host.clock_here = wallClock();
  if (Status understood = checkWelcome(welcome); !understood.ok()) return fail(host, std::move(understood));
  if (!welcome.has_condition()) {
    return fail(host, failedPrecondition("popdist-agent there is " + welcome.version() + ", poprun is " +
                                         contract::kVersion + ": it cannot examine its host"));
  }
  const Result<std::chrono::milliseconds> clock = clockOf(welcome.condition());
  if (!clock.ok()) return fail(host, clock.status());
  host.clock_there = clock.value();
  takeFindings(welcome, host.findings);
  sendEcho(host);
}

// The cheapest question that is answered.
void Doctor::sendEcho(ExaminedHost& host) {
  host.sent = loop_.now();
  host.call->send(
      wire::encode(NumberedCommand{++host.echoes, DescribeCommand{0, model::TopologyDetail::kCpus}}));
}

void Doctor::echoed(ExaminedHost& host) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(loop_.now() - host.sent);
  std::chrono::microseconds& fastest = host.findings.round_trip;
  fastest = host.echoes == 1 ? took : std::min(fastest, took);
  host.echoes < kEchoes ? sendEcho(host) : finish(host);
}

void Doctor::finish(ExaminedHost& host) {
  const auto on_the_way = std::chrono::duration_cast<std::chrono::milliseconds>(host.findings.round_trip) / 2;
  host.findings.clock_ahead = host.clock_there - (host.clock_here - on_the_way);
  settle(host);
}

void Doctor::fail(ExaminedHost& host, Status why) {
  if (host.settled) return;
  host.findings.reached = std::move(why);
  settle(host);
}

void Doctor::settle(ExaminedHost& host) {
  host.settled = true;
  if (!host.call) return over(host);
  host.phase = "waiting for its agent's end";
  host.call->close();
  if (host.timeout) loop_.cancel(*host.timeout);
  host.timeout = loop_.postAfter(kAgentEndTimeout, [this, &host] {
    host.timeout.reset();
    host.findings.end_problem = "popdist-agent there was told to end " +
                                std::to_string(kAgentEndTimeout.count()) +
                                " ms ago and has not (`pgrep popdist-agent` there finds it)";
    over(host);
  });
}

void Doctor::over(ExaminedHost& host) {
  if (std::exchange(host.over, true)) return;
  if (host.timeout) loop_.cancel(*std::exchange(host.timeout, std::nullopt));
  if (++num_over_ == hosts_.size()) loop_.stop();
}

void Doctor::sayWhoIsWaitedFor() {
  std::vector<std::string> waiting;
  for (const std::unique_ptr<ExaminedHost>& host : hosts_) {
    if (!host->over) waiting.push_back(host->findings.name + ": " + host->phase);
  }
  std::fprintf(stderr, "%s\n", waitingLine(std::move(waiting), hosts_.size()).c_str());
  loop_.postAfter(kNextNotice, [this] { sayWhoIsWaitedFor(); });
}

std::vector<HostFindings> Doctor::findings() const {
  std::vector<HostFindings> all;
  std::vector<std::string> addresses;
  for (const std::unique_ptr<ExaminedHost>& host : hosts_) {
    all.push_back(host->findings);
    addresses.push_back(host->findings.address);
  }
  if (!spec_.host_subnet.empty()) return all;
  correctOwnAddress(spec_.hosts, addresses);
  for (std::size_t host = 0; host < all.size(); ++host) all[host].address = addresses[host];
  return all;
}

}  // namespace

int runDoctor(const Options& options, const model::JobSpec& spec, MakeParts make_parts) {
  Result<SshOptions> ssh = sshOptions(options.hosts);
  if (!ssh.ok()) return launcherFailed(ssh.status());
  const bool by_service = options.hosts.agent_port != 0;
  const Result<ServicePart> service =
      by_service ? servicePart(serviceSettings(options.hosts), spec.hosts.size()) : ServicePart();
  if (!service.ok()) return launcherFailed(service.status());
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) return launcherFailed(ready);
  os::EpollLoop loop;
  Doctor doctor(loop, options, spec);
  std::vector<BootstrapPart> parts;
  if (!by_service) parts = make_parts(loop, options.hosts, std::move(*ssh), spec.hosts);
  doctor.examine(std::move(parts), service.value());
  const DoctorReport report = doctorReport(doctor.findings(), sys::hostName(), contract::kVersion);
  if (std::fputs(report.text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return launcherFailed(errnoStatus("writing to stdout", errno));
  return report.all_fine ? 0 : 1;
}

}  // namespace pop
