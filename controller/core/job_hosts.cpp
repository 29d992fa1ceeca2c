// SPDX-License-Identifier: Apache-2.0
#include "controller/core/job_hosts.h"

#include <algorithm>
#include <cstddef>

namespace pop {

class JobHosts::Events final : public AgentEvents {
 public:
  Events(JobHosts& hosts, int host) : hosts_(&hosts), host_(host) {}

  /// Renumbers its host.
  void moveTo(int host) { host_ = host; }
  /// The job continues without this host, whose agent may still send reports.
  void leaveOut() { hosts_ = nullptr; }

  void onStarted(int instance, pid_t pid) override {
    if (hosts_ != nullptr) hosts_->reports_->onStarted(instance, pid);
  }
  void onEnded(int instance, const InstanceEnd& end) override {
    if (hosts_ != nullptr) hosts_->reports_->onEnded(instance, end);
  }
  void onClosed(int instance) override {
    if (hosts_ != nullptr) hosts_->reports_->onClosed(instance);
  }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    if (hosts_ != nullptr) hosts_->reports_->onAborted(instance, exit_code, message);
  }
  void onFenceReached(FenceId fence, PutValues values) override {
    if (hosts_ != nullptr) hosts_->reports_->onFenceReached(host_, fence, std::move(values));
  }
  void onReported(const std::vector<InstanceValue>& values) override {
    if (hosts_ != nullptr) hosts_->reports_->onReported(values);
  }
  void onLost(const Status& why) override {
    if (hosts_ != nullptr) hosts_->reports_->onLost(host_, why);
  }

 private:
  JobHosts* hosts_;  ///< null: left out
  int host_;
};

JobHosts::JobHosts(const std::vector<Agent*>& agents) {
  for (Agent* const agent : agents)
    hosts_.push_back({.agent = agent, .events = std::make_unique<Events>(*this, count())});
}

JobHosts::~JobHosts() = default;

// Waits for all hosts, each with its own time limit, so that the error names every host that failed.
void JobHosts::describe(const PlacedJob& placed, std::function<void()> done) {
  described_ = 0;
  for (int host = 0; host < count(); ++host) {
    at(host).agent->describe(placed.envs().portsOn(host),
                             model::detailFor(placed.spec().binding, placed.envs().instancesOn(host)),
                             [this, host, done](Result<HostFacts> facts) {
                               at(host).failure = facts.status();
                               if (facts.ok()) at(host).facts = std::move(*facts);
                               if (++described_ == count()) done();
                             });
  }
}

void JobHosts::correct(const std::function<void(std::vector<std::string>& addresses)>& correct) {
  std::vector<std::string> addresses;
  for (const Host& host : hosts_) addresses.push_back(host.facts.address);
  correct(addresses);
  for (std::size_t host = 0; host < hosts_.size(); ++host) hosts_[host].facts.address = addresses[host];
}

void JobHosts::run(int host, JobSlice slice) {
  at(host).agent->run(std::move(slice), *at(host).events);
}

bool JobHosts::anyGone() const {
  return std::any_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return !host.failure.ok(); });
}

std::vector<bool> JobHosts::gone() const {
  std::vector<bool> gone;
  for (const Host& host : hosts_) gone.push_back(!host.failure.ok());
  return gone;
}

std::vector<HostFailure> JobHosts::failures(const model::JobSpec& spec) const {
  std::vector<HostFailure> failures;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].failure.ok())
      failures.push_back({spec.hosts[host].name, hosts_[host].failure.message()});
  }
  return failures;
}

void JobHosts::leaveOutGone() {
  for (Host& host : hosts_) {
    if (host.failure.ok()) continue;
    host.events->leaveOut();
    left_out_.push_back(std::move(host.events));
  }
  std::erase_if(hosts_, [](const Host& host) { return !host.failure.ok(); });
  for (int host = 0; host < count(); ++host) at(host).events->moveTo(host);
}

}  // namespace pop
