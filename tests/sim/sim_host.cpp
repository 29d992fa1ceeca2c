// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_host.h"

#include <algorithm>
#include <utility>

#include "tests/testing/topologies.h"

namespace pop::sim {
namespace {

constexpr int kSoonMs = 5;
constexpr int kUnkillableMs = 8000;  // longer than an agent waits

}  // namespace

SimHost::SimHost(testing::FakeLoop& clock, SplitMix64& random, SimLink& link, const Manners& manners,
                 int index, Events events)
    : random_(random),
      manners_(manners),
      index_(index),
      events_(std::move(events)),
      process_(clock),
      machine_(clock),
      session_(process_, link, *this,
               [this](const Status&) {
                 // LocalAgent::shutDown: the keeper ends what is left, and the process is gone.
                 over_ = true;
                 killAll();
                 process_.kill();
               }),
      core_(process_, *this, *this) {
  session_.setOnReady([this] {
    output_paused_ = false;
    for (auto& [instance, self] : instances_) pump(instance, self);
  });
  session_.serve(*this);
}

int SimHost::alive() const {
  return static_cast<int>(std::count_if(instances_.begin(), instances_.end(),
                                        [](const auto& each) { return each.second.alive; }));
}

bool SimHost::killedByAgent(int instance) const {
  const auto found = instances_.find(instance);
  return found != instances_.end() && found->second.killed;
}

void SimHost::crash() {
  process_.kill();
  killAll();
}

void SimHost::killAll() {
  keeper_gone_ = true;
  for (auto& [instance, self] : instances_) {
    tidied_away_ += self.alive ? 1 : 0;
    self.alive = false;
  }
}

// ---- the agent port

void SimHost::describe(int port_count, model::TopologyDetail, std::function<void(Result<HostFacts>)> reply) {
  process_.postAfter(milliseconds(upTo(kSoonMs)), [this, port_count, reply = std::move(reply)] {
    if (keeper_gone_) return reply(failedPrecondition("its keeper process was killed"));
    HostFacts facts{.address = "10.0.0." + std::to_string(index_), .topology = testing::grid(1, 4)};
    for (int port = 0; port < port_count; ++port) facts.ports.push_back(10000 + port);
    reply(std::move(facts));
  });
}

void SimHost::run(JobSlice slice, AgentEvents& events) {
  ++run_;
  instances_.clear();
  output_paused_ = false;
  core_.run(std::move(slice), events);
}

void SimHost::traceStacks(std::function<void(std::vector<StackTrace>)> reply) {
  process_.postAfter(milliseconds(upTo(1000)), [reply = std::move(reply)] { reply({}); });
}

// ---- processes. The keeper and the instances are on the machine, what they report goes to the process.

void SimHost::after(int most_ms, int instance, std::function<void(SimInstance&)> task) {
  machine_.postAfter(milliseconds(upTo(most_ms)), [this, instance, run = run_, task = std::move(task)] {
    const auto found = instances_.find(instance);
    if (run == run_ && found != instances_.end()) task(found->second);
  });
}

void SimHost::inAgent(int instance, std::function<void(SimInstance&)> task) {
  process_.run([this, instance, run = run_, task = std::move(task)] {
    if (run == run_) task(instances_.at(instance));
  });
}

void SimHost::spawn(const SpawnRequest& request) {
  const int instance = request.instance;
  const SimInstance& self = instances_.try_emplace(instance, Life(manners_, random_)).first->second;
  if (self.life.unstartable || keeper_gone_) {
    instances_.at(instance).alive = false;
    process_.postAfter(milliseconds(upTo(kSoonMs)), [this, instance] {
      core_.onSpawnFailed(instance, contract::kExitNotFound, "no such program");
    });
    return;
  }
  after(kSoonMs, instance, [this, instance](SimInstance&) { spawned(instance); });
}

void SimHost::spawned(int instance) {
  if (keeper_gone_) return;
  inAgent(instance, [this, instance](SimInstance&) { core_.onSpawned(instance, 700 + instance); });
  plan(instance);
}

// All that the instance will do if nobody stops it.
void SimHost::plan(int instance) {
  const Life& life = instances_.at(instance).life;
  for (int piece = 0; piece < life.pieces; ++piece)
    after(life.lasts_ms, instance, [this, instance](SimInstance& self) { writePiece(instance, self); });
  if (life.fences > 0) {
    after(life.lasts_ms, instance, [this, instance](SimInstance& self) { enterFence(instance, self); });
  }
  if (life.aborts) {
    after(life.lasts_ms, instance, [this, instance](SimInstance& self) {
      if (!self.alive) return;
      inAgent(instance, [this, instance](SimInstance&) { core_.onAborted(instance, 42, "no data"); });
      after(kSoonMs, instance, [this, instance](SimInstance& me) { exit(instance, me, {.code = 42}); });
    });
  }
  machine_.postAfter(milliseconds(life.lasts_ms), [this, instance, run = run_] {
    if (run != run_) return;
    SimInstance& self = instances_.at(instance);
    self.over_time = true;
    const bool waits = self.in_fence || (self.fences_entered < self.life.fences && !self.lonely);
    if (!waits || !self.life.end.success()) exit(instance, self, self.life.end);
  });
}

void SimHost::signal(int instance, int signal) {
  if (signal != SIGTERM && signal != SIGKILL) return;
  after(kSoonMs, instance, [this, instance, signal](SimInstance& self) {
    if (!self.alive) return;
    self.killed = true;
    if (signal == SIGTERM && self.life.stubborn) return;
    const int delay = signal == SIGTERM ? 200 : self.life.unkillable ? kUnkillableMs : 1;
    after(delay, instance,
          [this, instance, signal](SimInstance& me) { exit(instance, me, {.signal = signal}); });
  });
}

// The keeper is killed, and the kernel ends the instances.
void SimHost::abandon() {
  killAll();
  process_.postAfter(milliseconds(1), [this] { core_.onKeeperLost(); });
}

void SimHost::exit(int instance, SimInstance& self, const contract::ExitStatus& status) {
  if (!self.alive || keeper_gone_) return;
  self.alive = false;
  if (fence_) fence_->leave(instance);
  self.in_fence = false;
  inAgent(instance, [this, instance, status](SimInstance&) { core_.onReaped(instance, status); });
}

// ---- output

void SimHost::writePiece(int instance, SimInstance& self) {
  if (!self.alive) return;
  std::string text = std::to_string(self.written++) + '/' + std::to_string(run_) + ' ';
  text.append(static_cast<std::size_t>(upTo(manners_.most_piece_bytes)), 'x');
  self.unread.push_back(std::move(text));
  inAgent(instance, [this, instance](SimInstance& me) { pump(instance, me); });
}

void SimHost::pump(int instance, SimInstance& self) {
  std::size_t read = 0;
  while (read < self.unread.size() && !output_paused_) {
    const std::string& text = self.unread[read++];
    events_.written(instance, static_cast<std::int64_t>(text.size()));
    if (!session_.write(instance, Stream::kStdout, text)) output_paused_ = true;
  }
  self.unread.erase(self.unread.begin(), self.unread.begin() + static_cast<std::ptrdiff_t>(read));
  if (self.draining && self.unread.empty()) {
    self.draining = false;
    process_.post([this, instance] { core_.onDrained(instance); });
  }
}

void SimHost::drain(int instance) {
  SimInstance& self = instances_.at(instance);
  self.draining = true;
  pump(instance, self);
}

// ---- rendezvous, as InstanceServer does it

Result<RendezvousPlaces> SimHost::open(const JobSlice& slice) {
  fence_ = std::make_unique<agent::Fence>(slice.instances.size());
  return RendezvousPlaces{.socket = "socket"};
}

void SimHost::enterFence(int instance, SimInstance& self) {
  if (!self.alive || self.lonely || self.in_fence || self.fences_entered == self.life.fences) return;
  self.in_fence = true;
  ++self.fences_entered;
  inAgent(instance, [this, instance](SimInstance& me) {
    if (!me.in_fence) return;
    if (me.lonely) {
      me.in_fence = false;
      if (me.over_time)
        after(kSoonMs, instance, [this, instance](SimInstance& it) { exit(instance, it, {}); });
      return;
    }
    events_.fence_entered(instance);
    fence_->put(instance, "key/" + std::to_string(instance), "value");
    fence_->enter(instance, "");
    if (fence_->complete()) core_.onFenceReached(FenceId::kInstances, fence_->collect());
  });
}

// What all have put is not kept: for all hosts of a large cluster in one process that is too much.
void SimHost::releaseFence(FenceId, const PutValues&) {
  const std::map<int, std::string> inside = fence_->release({});
  if (!inside.empty()) events_.fence_released();
  for (const auto& [instance, tag] : inside) {
    SimInstance& self = instances_.at(instance);
    self.in_fence = false;
    if (self.fences_entered < self.life.fences) {
      after(kSoonMs, instance, [this, instance = instance](SimInstance& me) { enterFence(instance, me); });
    } else if (self.over_time) {
      after(kSoonMs, instance, [this, instance = instance](SimInstance& me) { exit(instance, me, {}); });
    }
  }
}

void SimHost::announce(const EndNotice&) {
  const std::map<int, std::string> inside = fence_->inside();
  for (const auto& [instance, tag] : inside) {
    fence_->leave(instance);
    SimInstance& self = instances_.at(instance);
    self.in_fence = false;
    self.lonely = true;
    const int code = random_.unit() < manners_.failure_after_news ? 1 : 0;
    after(kSoonMs, instance,
          [this, instance = instance, code](SimInstance& me) { exit(instance, me, {.code = code}); });
  }
  // Whoever comes to a fence from now on finds the same.
  for (auto& [instance, self] : instances_) {
    self.lonely = true;
    if (self.alive && self.over_time) {
      after(kSoonMs, instance, [this, instance = instance](SimInstance& me) { exit(instance, me, {}); });
    }
  }
}

// ---- stdin

void SimHost::write(std::string bytes) {
  read_input += bytes;
  const auto count = static_cast<std::int64_t>(bytes.size());
  process_.postAfter(milliseconds(upTo(kSoonMs)), [this, count] {
    if (on_taken_) on_taken_(count);
  });
}

}  // namespace pop::sim
