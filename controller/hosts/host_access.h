// SPDX-License-Identifier: Apache-2.0
// Access to the hosts of a job, or of an examination by doctor: by a Bootstrapper, or by the agent
// service.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/wire/agent_call.h"
#include "controller/hosts/bootstrapper.h"

namespace pop {

/// Some of the hosts, by index, and the Bootstrapper that starts their agents.
struct BootstrapPart {
  std::vector<int> hosts;
  std::unique_ptr<Bootstrapper> bootstrapper;  ///< numbers these hosts from 0
};

/// A connection to one host's agent through the agent service.
struct ServiceLine {
  using Described = std::function<void(Result<wire::v1::HostDescription>)>;

  wire::CallMaker call;
  /// Ends a job whose stream is lost; the loop calls `done` once.
  std::function<void(wire::v1::EndJobRequest, std::function<void(Status)> done)> end_job;
  std::function<void(std::chrono::milliseconds timeout, Described done)> describe;
};

/// The hosts whose agents are reached through the agent service, and how to reach them.
struct ServicePart {
  std::vector<int> hosts;
  std::function<ServiceLine(os::EpollLoop& loop, const std::string& host)> dial;
  /// Why an agent did not answer, derived from the state of the call. May be empty.
  std::function<Status(const std::string& host, const Status& why)> explain;
};

struct HostAccess {
  std::vector<BootstrapPart> parts;
  ServicePart service;
  std::chrono::milliseconds connect_timeout{10000};  ///< for an agent's answer
  std::function<void(const std::string& line)> say;  ///< prints a line for the user; without newline
};

}  // namespace pop
