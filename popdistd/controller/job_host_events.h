// SPDX-License-Identifier: Apache-2.0
// What one host's agent reports to its job: tells the job which host it was.
#pragma once

#include <string>
#include <utility>

#include "popdistd/controller/job.h"

namespace pop {

class Job::HostEvents final : public AgentEvents {
 public:
  HostEvents(Job& job, int host) : job_(job), host_(host) {}

  /// Its host has another index from now on.
  void moveTo(int host) { host_ = host; }

  void onStarted(int instance, pid_t pid) override { job_.onStarted(instance, pid); }
  void onEnded(int instance, const InstanceEnd& end) override { job_.onEnded(instance, end); }
  void onClosed(int instance) override { job_.onClosed(instance); }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    job_.onAborted(instance, exit_code, message);
  }
  void onFenceReached(PutValues values) override { job_.onFenceReached(host_, std::move(values)); }
  void onLost(const Status& why) override { job_.onLost(host_, why); }

 private:
  Job& job_;
  int host_;
};

}  // namespace pop
