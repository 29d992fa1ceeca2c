// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_world.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

namespace pop::sim {
namespace {

constexpr milliseconds kNeverMs{600'000};

}  // namespace

World::World(std::uint64_t seed, Scenario scenario) : scenario_(std::move(scenario)), random_(seed ^ 0x5157) {
  build();
}

World::~World() {
  job_.reset();
  for (Host& host : hosts_) host.remote.reset();
}

milliseconds World::virtualTime() const {
  return std::chrono::duration_cast<milliseconds>(clock_.now() - begin_);
}

std::uint64_t World::commandsSent() const {
  std::uint64_t sent = 0;
  for (const Host& host : hosts_) sent += host.link->down.sent();
  return sent;
}

std::uint64_t World::reportsSent() const {
  std::uint64_t sent = 0;
  for (const Host& host : hosts_) sent += host.link->up.sent();
  return sent;
}

void World::build() {
  hosts_.resize(scenario_.spec.hosts.size());
  std::vector<Agent*> agents;
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    buildHost(static_cast<int>(index));
    agents.push_back(hosts_[index].spy.get());
  }
  const auto event = [this](const LogEntry& entry) { noteEvent(entry); };
  const auto again = [this](const JobOutcome& failed, int) { restarting(failed); };
  job_ = std::make_unique<Job>(
      controller_, JobIdentity{"4f2a", "the job\'s own key"}, scenario_.spec, agents,
      JobWatch{.event = event, .restarting = again, .done = [this](const JobOutcome& out) { done(out); }});
}

void World::tell(const std::string& what) const {
  if (telling_) std::printf("%8lld ms  %s\n", static_cast<long long>(virtualTime().count()), what.c_str());
}

void World::noteEvent(const LogEntry& entry) {
  ++events_logged_;
  tell((entry.instance < 0 ? "" : "instance " + std::to_string(entry.instance) + ' ') + entry.text);
  if (entry.text == "its time limit has expired") record_.decided_before = !record_.first_failing_instance;
  if (job_->state() == JobState::kStopping && !decided_at_) decided_at_ = clock_.now();
}

void World::buildHost(int index) {
  Host& host = hosts_[static_cast<std::size_t>(index)];
  host.link = std::make_unique<SimLink>(clock_, random_, scenario_.weather);
  host.remote = std::make_unique<RemoteAgent>(controller_, shared_output_.add());
  host.machine = std::make_unique<SimHost>(clock_, random_, *host.link, scenario_.manners, index,
                                           SimHost::Events{[this, &host](int instance) {
                                                             if (!host.remote->lost())
                                                               ++fences_entered_[instance];
                                                           },
                                                           [this, &host, index] {
                                                             if (!host.remote->lost()) checkFence(index);
                                                           },
                                                           [this, &host](int instance, std::int64_t bytes) {
                                                             if (!host.remote->lost())
                                                               output_[instance].first += bytes;
                                                           }});
  host.spy = std::make_unique<SpyAgent>(*host.remote, index, record_,
                                        [this](const std::string& rule) { broken(rule); });
  // Reports that arrive when the controller has let go of the agent are nobody's.
  RemoteAgent* const remote = host.remote.get();
  agent::AgentSession& session = host.machine->session();
  host.link->up.connect(
      controller_, [remote](NumberedReport report) { remote->receive(std::move(report)); },
      [remote](Status why) { remote->linkLost(std::move(why)); });
  host.link->down.connect(
      host.machine->process(), [&session](NumberedCommand command) { session.receive(std::move(command)); },
      [&session](Status why) { session.linkLost(std::move(why)); });
}

const std::vector<std::string>& World::live() {
  for (Host& host : hosts_) reach(host);
  planFaults();
  job_->start();
  while (!outcome_ && !controller_died_ && virtualTime() < kNeverMs) clock_.advance(milliseconds(500));
  if (!outcome_ && !controller_died_) broken("the job never ends");
  // The launcher is done, and lets go of its agents; what is cut off has its silence, and a host that hangs
  // the time until it goes on.
  for (Host& host : hosts_) {
    if (!controller_.dead()) host.link->close();
  }
  clock_.advance(milliseconds(60'000));
  checkEnd();
  return broken_;
}

// As a bootstrapper does it: agents come up one by one, or never.
void World::reach(Host& host) {
  host.reached = !chance(scenario_.unreachable);
  controller_.postAfter(within(200), [this, &host] {
    if (host.reached) return host.remote->linkUp(*host.link);
    host.remote->linkLost(unavailable("connection refused"));
    host.machine->crash();
  });
}

// ---- output

bool World::write(int instance, Stream, std::string_view text) {
  const std::size_t slash = text.find('/');
  const int number = std::stoi(std::string(text.substr(0, slash)));
  const int run = std::stoi(std::string(text.substr(slash + 1)));
  auto& [last_run, next] = next_piece_[instance];
  if (run != last_run) next = 0;
  last_run = run;
  if (number != next++) broken("output of instance " + std::to_string(instance) + " is not in order");
  output_[instance].second += static_cast<std::int64_t>(text.size());
  if (!chance(scenario_.slow_screen)) return true;
  controller_.postAfter(within(50), [this] { on_ready_(); });
  return false;
}

// ---- what goes wrong

void World::planFaults() {
  for (std::size_t index = 0; index < hosts_.size(); ++index)
    planFault(hosts_[index], static_cast<int>(index));
  const auto at = [this](double probability, void (World::*what)()) {
    if (!chance(probability)) return;
    clock_.postAfter(within(scenario_.faults_within_ms), [this, what] {
      if (!outcome_ && !controller_died_) (this->*what)();
    });
  };
  at(scenario_.controller_dies, &World::killController);
  at(scenario_.user_stops, &World::userStops);
  at(scenario_.user_pauses, &World::userPauses);
}

void World::planFault(Host& host, int index) {
  const auto at = [this](double probability, std::function<void()> what) {
    if (chance(probability)) clock_.postAfter(within(scenario_.faults_within_ms), std::move(what));
  };
  at(scenario_.cut, [this, &host, index] {
    tell("FAULT: host " + std::to_string(index) + " is cut off");
    cutOff(host);
    checkCut(host, index);
  });
  at(scenario_.crash, [this, &host, index] {
    tell("FAULT: host " + std::to_string(index) + " crashes");
    host.machine->crash();
    host.link->reset();
  });
  at(scenario_.reset, [this, &host, index] {
    tell("FAULT: host " + std::to_string(index) + " has its link reset");
    host.link->reset();
  });
  at(scenario_.freeze, [this, &host, index] {
    tell("FAULT: host " + std::to_string(index) + " freezes");
    host.machine->process().freeze();
    checkFrozen(host, index);
    clock_.postAfter(within(20'000), [&host] { host.machine->process().resume(); });
  });
}

void World::cutOff(Host& host) {
  const std::uint64_t which = random_.below(3);
  if (which != 0) host.link->down.cut();
  if (which != 1) host.link->up.cut();
  if (chance(0.5)) return;
  clock_.postAfter(within(12'000), [this, &host] {
    if (controller_died_) return;
    host.link->down.heal();
    host.link->up.heal();
  });
}

// SIGKILL: its host closes the connections, or is cut off itself.
void World::killController() {
  tell("FAULT: the controller dies");
  controller_died_ = true;
  controller_.kill();
  // A launcher that is stopped has said that it will be silent; what is heard of it then is its end.
  const bool cut_off = chance(0.5) && !paused_;
  for (Host& host : hosts_) cut_off ? host.link->down.cut() : host.link->reset();
  clock_.postAfter(milliseconds(5000 + 1500), [this] {
    for (const Host& host : hosts_) {
      // Cut off before it heard of the end, it waits for the word of one that said it would be silent.
      if (paused_ && host.link->down.holds()) continue;
      if (!host.machine->process().everFrozen() && host.machine->alive() > 0)
        broken("6.5 s after the controller's death there are instances");
    }
  });
}

void World::userStops() {
  tell("the user stops it");
  controller_.run([this] {
    if (user_signals_++ == 0 && !decided_at_) decided_at_ = clock_.now();
    record_.decided_before = record_.decided_before || !record_.first_failing_instance;
    job_->stop(SIGINT);
  });
  if (chance(0.4) && user_signals_ < 3)
    clock_.postAfter(within(3000), [this] {
      if (!outcome_ && !controller_died_) userStops();
    });
}

void World::userPauses() {
  if (controller_.frozen()) return;
  tell("the user pauses it");
  paused_ = true;
  job_->signal(SIGSTOP);
  controller_.stop();
  clock_.postAfter(within(60'000), [this] {
    controller_.resume();
    controller_.run([this] { job_->signal(SIGCONT); });
  });
}

}  // namespace pop::sim
