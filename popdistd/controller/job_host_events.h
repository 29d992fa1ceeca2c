// SPDX-License-Identifier: Apache-2.0
// What one host's agent reports to its job: tells the job which host it was.
#pragma once

#include <string>
#include <utility>

#include "popdistd/controller/job.h"

namespace pop {

class Job::HostEvents final : public AgentEvents {
 public:
  HostEvents(Job& job, int host) : job_(&job), host_(host) {}

  /// Its host has another index from now on.
  void moveTo(int host) { host_ = host; }
  /// The job goes on without its host, whose agent may still have something to say.
  void leaveOut() { job_ = nullptr; }

  void onStarted(int instance, pid_t pid) override {
    if (job_ != nullptr) job_->onStarted(instance, pid);
  }
  void onEnded(int instance, const InstanceEnd& end) override {
    if (job_ != nullptr) job_->onEnded(instance, end);
  }
  void onClosed(int instance) override {
    if (job_ != nullptr) job_->onClosed(instance);
  }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    if (job_ != nullptr) job_->onAborted(instance, exit_code, message);
  }
  void onFenceReached(PutValues values) override {
    if (job_ != nullptr) job_->onFenceReached(host_, std::move(values));
  }
  void onLost(const Status& why) override {
    if (job_ != nullptr) job_->onLost(host_, why);
  }

 private:
  Job* job_;  ///< null: left out
  int host_;
};

}  // namespace pop
