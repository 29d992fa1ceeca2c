// SPDX-License-Identifier: Apache-2.0
// The controller of a job on several hosts: the job core in this process, and an agent on each host,
// connected by a stream.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/ports/controller_port.h"
#include "controller/core/job.h"
#include "controller/hosts/conversations.h"
#include "controller/hosts/job_host.h"
#include "controller/hosts/shared_output.h"
#include "controller/hosts/stdin_relay.h"

namespace pop {

/// Settings common to all hosts of a job.
struct HostsSettings {
  bool whole_lines_out = true;  ///< instances share stdout line by line
  bool whole_lines_err = true;
  std::string job_id;  ///< by which agents know the job; empty: a random one
  LinkTimes times;
};

class HostsController final : public Controller {
 public:
  HostsController(os::EpollLoop& loop, OutputSink& sink, HostsSettings settings, HostAccess access);
  ~HostsController() override;

  Status submit(model::JobSpec spec, JobWatch watch) override;
  void stop(int user_signal) override;
  void signal(int signal) override;
  void suspend(std::function<void()> stopped) override;
  Status shutDown() override;

 private:
  std::vector<Agent*> addHosts(const wire::v1::Hello& hello);
  wire::v1::Hello helloToAll() const;
  void forgetStop();
  void tellWhenStopped();
  void note(const LogEntry& entry);
  void relayStdin();
  Status howAllEnded() const;

  os::EpollLoop& loop_;
  const HostsSettings settings_;
  SharedOutput output_;
  model::JobSpec spec_;
  std::string job_id_;
  std::string job_directory_;
  JobWatch watch_;
  Conversations conversations_;
  std::vector<std::unique_ptr<JobHost>> hosts_;
  std::unique_ptr<Job> job_;
  StdinRelay stdin_;
  std::set<std::string> stdin_hosts_;  ///< of this attempt
  std::function<void()> stopped_;      ///< set while the agents are stopping the instances
  std::optional<TimerId> stop_timeout_;
  bool shutting_down_ = false;
};

}  // namespace pop
