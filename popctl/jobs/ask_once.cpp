// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>

#include "popctl/answered.h"
#include "popctl/commands.h"
#include "popctl/jobs/states.h"
#include "popctl/jobs/tables.h"
#include "popctl/rpc/exit_codes.h"

namespace pop::popctl {
namespace {

using WallClock = std::chrono::system_clock;

int checkStore(const Command& command, ControllerClient& client) {
  const Result<v1::CheckStoreReply> reply = client.checkStore({});
  const int printed = shown(command, reply, checkText);
  if (printed != 0) return printed;
  return reply.value().findings().empty() ? 0 : kExitRefused;
}

int askOfHost(const Command& command, ControllerClient& client) {
  v1::HostRef host;
  host.set_name(command.object);
  switch (command.action) {
    case Action::kGetHost:
      return shown(command, client.getHost(host),
                   [](const v1::HostInfo& info) { return hostText(info, WallClock::now()); });
    case Action::kDrainHost: {
      v1::DrainRequest request;
      *request.mutable_host() = host;
      request.set_reason(command.reason);
      return answered(command, client.drain(request));
    }
    case Action::kResumeHost:
      return answered(command, client.resume(host));
    default:
      return answered(command, client.removeHost(host));
  }
}

int cancelJob(const Command& command, ControllerClient& client, const v1::JobRef& job) {
  v1::CancelRequest request;
  *request.mutable_job() = job;
  request.set_reason(command.reason);
  return answered(command, client.cancel(request));
}

int signalJob(const Command& command, ControllerClient& client, const v1::JobRef& job) {
  const Result<int> signal = parseSignal(command.signal);
  if (!signal.ok()) return unusable(signal.status());
  v1::SignalRequest request;
  *request.mutable_job() = job;
  request.set_signal(signal.value());
  return answered(command, client.signal(request));
}

int askOfJob(const Command& command, ControllerClient& client) {
  const Result<v1::JobRef> job = parseJob(command.object);
  if (!job.ok()) return unusable(job.status());
  switch (command.action) {
    case Action::kGetJob:
      return shown(command, client.get(job.value()),
                   [](const v1::JobInfo& info) { return jobText(info, WallClock::now()); });
    case Action::kCancelJob:
      return cancelJob(command, client, job.value());
    case Action::kSignalJob:
      return signalJob(command, client, job.value());
    case Action::kHoldJob:
      return answered(command, client.hold(job.value()));
    case Action::kReleaseJob:
      return answered(command, client.release(job.value()));
    default:
      return answered(command, client.forget(job.value()));
  }
}

}  // namespace

int askOnce(const Command& command, ControllerClient& client) {
  switch (command.action) {
    case Action::kAbout:
      return shown(command, client.about({}),
                   [&](const v1::AboutReply& about) { return aboutText(about, client.server().address); });
    case Action::kCheckStore:
      return checkStore(command, client);
    case Action::kGetHost:
    case Action::kDrainHost:
    case Action::kResumeHost:
    case Action::kRemoveHost:
      return askOfHost(command, client);
    default:
      return askOfJob(command, client);
  }
}

}  // namespace pop::popctl
