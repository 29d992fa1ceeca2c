// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/doctor.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "common/contract/version.h"
#include "common/model/end_times.h"
#include "common/model/host_list.h"
#include "common/model/placement.h"
#include "common/sys/host_name.h"
#include "common/sys/process_setup.h"
#include "common/sys/random_name.h"
#include "common/wire/codec_parts.h"
#include "controller/core/instance_env.h"
#include "controller/hosts/conversations.h"
#include "controller/hosts/own_address.h"
#include "poprun/command/command_line.h"
#include "poprun/command/host_findings.h"
#include "poprun/command/ssh_settings.h"
#include "poprun/plan/doctor_report.h"
#include "poprun/session/job_session.h"

namespace pop {
namespace {

std::chrono::milliseconds wallClock() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

// One host's examination: what its agent finds, some echoes, the end.
class ExaminedHost final : private ConversationEvents {
 public:
  ExaminedHost(Conversations& conversations, const std::string& name, wire::v1::Hello hello)
      : conversations_(conversations), conversation_(conversations.add(name, std::move(hello), *this)) {
    findings_.name = name;
    findings_.is_this_host = model::isThisHost(name, sys::hostName());
  }

  HostFindings findings() const;

 private:
  void reached() override;
  void welcomed(const wire::v1::Welcome& welcome) override;
  void ended(const Status& how, const Status& lost) override;

  void askService(const ServiceLine& line);

  Conversations& conversations_;
  HostConversation& conversation_;
  HostFindings findings_;
  bool settled_ = false;  ///< all is known of it, but whether its agent ends
};

HostFindings ExaminedHost::findings() const {
  HostFindings findings = findings_;
  findings.peer_address = conversation_.peerAddress();
  findings.agent_copied = conversation_.agentWasCopied();
  if (conversation_.endIsLate())
    findings.end_problem = "popdist-agent there was told to end " + std::to_string(kAgentEndTimeout.count()) +
                           " ms ago and has not (`pgrep popdist-agent` there finds it)";
  return findings;
}

void ExaminedHost::reached() {
  if (const std::optional<ServiceLine>& line = conversation_.line()) return askService(*line);
  conversation_.call();
}

void ExaminedHost::askService(const ServiceLine& line) {
  const HostAccess& access = conversations_.access();
  conversation_.enter("waiting for its agent service's answer");
  line.describe(access.connect_timeout, [this, &access](const Result<wire::v1::HostDescription>& said) {
    if (!said.ok()) return conversation_.failed(access.service.explain(findings_.name, said.status()));
    takeService(said.value(), findings_);
    conversation_.call();
  });
}

void ExaminedHost::welcomed(const wire::v1::Welcome& welcome) {
  const std::chrono::milliseconds clock_here = wallClock();
  if (!welcome.has_condition()) {
    return conversation_.failed(failedPrecondition("popdist-agent there is " + welcome.version() +
                                                   ", poprun is " + contract::kVersion +
                                                   ": it cannot examine its host"));
  }
  const Result<std::chrono::milliseconds> clock_there = clockOf(welcome.condition());
  if (!clock_there.ok()) return conversation_.failed(clock_there.status());
  takeFindings(welcome, findings_);
  constexpr int kEchoes = 5;  // the first may find the way cold
  conversation_.echo(
      kEchoes, [this, ahead = clock_there.value() - clock_here](std::chrono::microseconds fastest) {
        findings_.round_trip = fastest;
        findings_.clock_ahead = ahead + std::chrono::duration_cast<std::chrono::milliseconds>(fastest) / 2;
        settled_ = true;
        conversation_.finish();
      });
}

void ExaminedHost::ended(const Status&, const Status& lost) {
  if (!settled_) findings_.reached = lost;
}

wire::v1::Hello helloTo(int host, const Options& options, const model::JobSpec& spec,
                        const InstanceEnvs& envs) {
  const std::string& directory = spec.programs.front().working_directory;
  wire::v1::Hello hello;
  hello.set_job_id(sys::randomName());  // a host that has two names is to say so by its address
  hello.set_subnet(spec.host_subnet);
  hello.set_silence_ms(
      static_cast<std::uint32_t>((options.hosts.connectTimeout() + kAgentEndTimeout).count()));
  hello.set_num_instances(static_cast<std::uint32_t>(envs.instancesOn(host)));
  wire::v1::Examination* const examination = hello.mutable_examination();
  examination->set_working_directory(directory.empty() ? workingDirectory() : directory);
  examination->set_port_count(envs.portsOn(host));
  examination->set_detail(wire::encodeDetail(model::detailFor(spec.binding, envs.instancesOn(host))));
  return hello;
}

std::vector<HostFindings> examine(os::EpollLoop& loop, const Options& options, const model::JobSpec& spec,
                                  HostAccess access) {
  const std::vector<model::InstancePlacement> placement = model::place(spec);
  const InstanceEnvs envs(spec, placement);
  Conversations conversations(loop, std::move(access));
  std::vector<std::unique_ptr<ExaminedHost>> hosts;
  for (std::size_t host = 0; host < spec.hosts.size(); ++host) {
    hosts.push_back(std::make_unique<ExaminedHost>(conversations, spec.hosts[host].name,
                                                   helloTo(static_cast<int>(host), options, spec, envs)));
  }
  conversations.start();
  conversations.runToEnd();
  std::vector<HostFindings> all;
  std::vector<std::string> addresses;
  for (const std::unique_ptr<ExaminedHost>& host : hosts) {
    all.push_back(host->findings());
    addresses.push_back(all.back().address);
  }
  if (!spec.host_subnet.empty()) return all;
  correctOwnAddress(spec.hosts, addresses);
  for (std::size_t host = 0; host < all.size(); ++host) all[host].address = addresses[host];
  return all;
}

}  // namespace

int runDoctor(const Options& options, const model::JobSpec& spec, MakeParts make_parts) {
  Result<SshOptions> ssh = sshOptions(options.hosts);
  if (!ssh.ok()) return launcherFailed(ssh.status());
  Result<HostAccess> access = hostAccess(options.hosts, spec.hosts.size(), [](const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
  });
  if (!access.ok()) return launcherFailed(access.status());
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) return launcherFailed(ready);
  os::EpollLoop loop;
  if (access->service.hosts.empty())
    access->parts = make_parts(loop, options.hosts, std::move(*ssh), spec.hosts);
  const DoctorReport report =
      doctorReport(examine(loop, options, spec, std::move(*access)), sys::hostName(), contract::kVersion);
  if (const int failed = print(report.text); failed != 0) return failed;
  return report.all_fine ? 0 : 1;
}

}  // namespace pop
