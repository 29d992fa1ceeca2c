// SPDX-License-Identifier: Apache-2.0
// The controller of a job on several hosts: the controller core in this process, an agent on each host, which
// it gets started and speaks to over a stream.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/ports/controller_port.h"
#include "popdistd/agents/bootstrapper.h"
#include "popdistd/agents/host_link.h"
#include "popdistd/agents/remote_agent.h"
#include "popdistd/agents/shared_output.h"
#include "popdistd/agents/stdin_relay.h"
#include "popdistd/controller/job.h"

namespace pop {

/// What is the same for all hosts of a job.
struct HostsSettings {
  bool whole_lines_out = true;  ///< instances share stdout line by line
  bool whole_lines_err = true;
  LinkTimes times;
  std::chrono::milliseconds connect_timeout{10000};
  std::function<void(const std::string& line)> say;  ///< on stderr, for people
};

/// Some of a job's hosts, by their index, and who starts their agents.
struct BootstrapPart {
  std::vector<int> hosts;
  std::unique_ptr<Bootstrapper> bootstrapper;  ///< counts them from 0
};

/// How one host's agent is spoken to through the agent service.
struct ServiceLine {
  using Described = std::function<void(Result<wire::v1::HostDescription>)>;

  wire::CallMaker call;
  HostLink::EndJob end_job;
  std::function<void(std::chrono::milliseconds timeout, Described done)> describe;
};

/// Hosts whose agents are reached through the agent service, and how.
struct ServicePart {
  std::vector<int> hosts;
  std::function<ServiceLine(os::EpollLoop& loop, const std::string& host)> dial;
  /// Why an agent did not answer, from what the call says.
  std::function<Status(const std::string& host, const Status& why)> explain;
};

class HostsController final : public Controller {
 public:
  HostsController(os::EpollLoop& loop, OutputSink& sink, HostsSettings settings,
                  std::vector<BootstrapPart> parts, ServicePart service);
  ~HostsController() override;

  Status submit(model::JobSpec spec, JobWatch watch) override;
  void stop(int user_signal) override;
  void signal(int signal) override;
  void suspend(std::function<void()> stopped) override;
  Status shutDown() override;

 private:
  struct Host {
    Host(os::EpollLoop& loop, OutputSink& sink, LinkTimes times) : agent(loop, sink, times) {}

    std::string name;
    std::string phase = "waiting for its turn";
    std::uint32_t num_instances = 0;
    std::unique_ptr<HostLink> link;
    RemoteAgent agent;  ///< closes the link when it goes, so before it
    Status failed;
    bool settled = false;    ///< reached, or failed
    bool over = false;       ///< nothing more comes from it
    std::string why_broken;  ///< its stream; empty: it is not
    bool asked_to_end = false;
    Status end;  ///< of one that was asked to, as it has put it
  };

  BootstrapEvents eventsFor(const std::vector<int>& hosts);
  void reached(Host& host, ReachedHost reached);
  void link(Host& host, const wire::CallMaker& call, wire::v1::Hello hello);
  void failed(Host& host, Status why);
  void over(Host& host);
  void ended(Host& host, int exit_code);
  void settle(Host& host);
  void forgetStop();
  void tellWhenStopped();
  wire::v1::Hello helloTo(const Host& host, const ReachedHost& reached) const;
  void note(const LogEntry& entry);
  void relayStdin();
  void sayWhoIsWaitedFor();
  void tellWhenOver();
  Status howAllEnded() const;

  os::EpollLoop& loop_;
  const HostsSettings settings_;
  std::vector<BootstrapPart> parts_;
  const ServicePart service_;
  SharedOutput output_;
  model::JobSpec spec_;
  std::string job_id_;
  std::string job_directory_;
  JobWatch watch_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Job> job_;
  StdinRelay stdin_;
  std::set<std::string> stdin_hosts_;  ///< of this attempt
  std::size_t settled_ = 0;
  std::optional<TimerId> timeout_;
  std::function<void()> stopped_;  ///< while the agents are asked to stop the instances
  std::optional<TimerId> stop_timeout_;
  bool shutting_down_ = false;
};

}  // namespace pop
