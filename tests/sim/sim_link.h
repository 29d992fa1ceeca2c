// SPDX-License-Identifier: Apache-2.0
// A link between the controller and one agent, with what happens to links: delay, messages that come twice or
// not at all, a direction that is cut and perhaps heals, a reset.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "agent/core/agent_session.h"
#include "common/base/random.h"
#include "controller/hosts/remote_agent.h"
#include "tests/sim/sim_process.h"

namespace pop::sim {

/// How a link treats each message.
struct LinkWeather {
  int most_delay_ms = 3;
  double loss = 0;
  double duplication = 0;
};

/// One direction: messages in order, each after a delay.
template <typename Message>
class OneWay {
 public:
  using Deliver = std::function<void(Message)>;

  OneWay(testing::FakeLoop& clock, SplitMix64& random, LinkWeather weather)
      : clock_(clock), random_(random), weather_(weather) {}

  void connect(SimProcess& to, Deliver deliver, std::function<void(Status)> lost) {
    to_ = &to;
    deliver_ = std::move(deliver);
    lost_ = std::move(lost);
  }

  void send(Message message) {
    if (closed_) return;
    ++sent_;
    if (weather_.loss > 0 && random_.unit() < weather_.loss) return;
    if (weather_.duplication > 0 && random_.unit() < weather_.duplication) pass(message);
    pass(std::move(message));
  }

  /// The sender has closed: the receiver sees it after all that was sent.
  void close() {
    if (std::exchange(closed_, true)) return;
    passTask([this] { lost_(unavailable("the other side has closed the link")); });
  }

  /// What is on its way is gone, and the receiver knows.
  void reset() {
    closed_ = true;
    ++generation_;
    cut_ = false;
    held_.clear();
    passTask([this] { lost_(unavailable("connection reset")); });
  }

  std::uint64_t sent() const { return sent_; }
  void cut() { cut_ = ever_cut_ = true; }
  bool everCut() const { return ever_cut_; }
  bool isCut() const { return cut_; }
  /// Cut, with something on its way that would have arrived.
  bool holds() const { return cut_ && !held_.empty(); }
  void heal() {
    if (!std::exchange(cut_, false)) return;
    for (std::function<void()>& task : std::exchange(held_, {})) passTask(std::move(task));
  }

 private:
  void pass(Message message) {
    passTask([this, message = std::move(message)] { deliver_(message); });
  }

  void passTask(std::function<void()> task) {
    const auto delay = milliseconds(random_.below(static_cast<std::uint64_t>(weather_.most_delay_ms) + 1));
    due_ = std::max(due_, clock_.now() + delay);
    clock_.postAfter(std::chrono::duration_cast<milliseconds>(due_ - clock_.now()),
                     [this, generation = generation_, task = std::move(task)] {
                       if (generation != generation_) return;
                       if (cut_) return held_.push_back(task), void();
                       to_->run(task);
                     });
  }

  testing::FakeLoop& clock_;
  SplitMix64& random_;
  const LinkWeather weather_;
  SimProcess* to_ = nullptr;
  Deliver deliver_;
  std::function<void(Status)> lost_;
  Clock::time_point due_{};
  std::uint64_t sent_ = 0;
  bool closed_ = false;
  bool cut_ = false;
  bool ever_cut_ = false;
  int generation_ = 0;
  std::vector<std::function<void()>> held_;
};

class SimLink final : public CommandLink, public agent::ReportLink {
 public:
  SimLink(testing::FakeLoop& clock, SplitMix64& random, LinkWeather weather)
      : down(clock, random, weather), up(clock, random, weather) {}

  void send(NumberedCommand command) override { down.send(std::move(command)); }
  void send(NumberedReport report) override { up.send(std::move(report)); }
  // Whichever side closes, the other one sees it; and its own way ends as well.
  void close() override {
    down.close();
    up.close();
  }
  void reset() {
    down.reset();
    up.reset();
  }

  OneWay<NumberedCommand> down;
  OneWay<NumberedReport> up;
};

}  // namespace pop::sim
