// SPDX-License-Identifier: Apache-2.0
// The heartbeat of a link: regularly sends a sign of life, and notices when the other side falls silent. It
// counts by the loop's timers only, so time in which this process was stopped is not silence. If the timers
// ran late, the machine may have been suspended, and the other side with it: the other side then gets one
// more heartbeat interval.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/loop.h"

namespace pop {

struct LinkTimes {
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds silence{
      5000};  ///< lost after this long without a sign of life; several heartbeats
};

class Heartbeat {
 public:
  /// `beat` sends a sign of life. `silent` is called once, when none has arrived for too long, and ends the
  /// heartbeat.
  Heartbeat(Loop& loop, LinkTimes times, std::function<void()> beat, std::function<void()> silent)
      : loop_(loop), times_(times), beat_(std::move(beat)), silent_(std::move(silent)) {}
  ~Heartbeat() { stop(); }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  bool running() const { return tick_.has_value(); }

  /// Starts; the other side counts as heard now.
  void start() {
    if (running()) return;
    expects_silence_ = false;
    heard();
    restartSilence();
    armTick();
    armSilence();
  }

  void stop() {
    for (std::optional<TimerId>* timer : {&tick_, &silence_}) {
      if (*timer) loop_.cancel(**timer);
      timer->reset();
    }
  }

  /// The other side will be silent for an unknown time, until expectSigns(). Until then this side beats only
  /// rarely: often enough for the kernel to notice a broken connection, and not often enough to seem alive to
  /// the other side if this side no longer hears it.
  void expectSilence() {
    if (!running()) return;
    stop();
    heard_ = false;
    expects_silence_ = true;
    armTick();
  }

  /// The other side continues; it counts as heard now.
  void expectSigns() {
    if (!expects_silence_ || !running()) return;
    stop();
    start();
  }

  /// The time since the last beat, now or before it: more than the interval if this process was stopped or
  /// starved.
  std::chrono::milliseconds quiet() const {
    return running() ? std::max(quiet_, sinceTick()) : std::chrono::milliseconds{};
  }

  /// Restarts quiet() after the other side has been told about a silence.
  void restartSilence() {
    ticked_at_ = loop_.now();
    quiet_ = {};
  }

  /// A message of any kind has arrived. Cheap.
  void heard() {
    heard_ = true;
    heard_at_ = loop_.now();
  }

 private:
  static constexpr int kTimeout = 60;

  void armTick() {
    tick_ = loop_.postAfter(expects_silence_ ? kTimeout * times_.heartbeat : times_.heartbeat, [this] {
      quiet_ = sinceTick();
      ticked_at_ = loop_.now();
      armTick();
      if (heard_ && !expects_silence_) armSilence();
      beat_();
    });
  }

  std::chrono::milliseconds sinceTick() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - ticked_at_);
  }

  // A message since the last tick arrived at most one interval ago, whatever the clock says.
  void armSilence() {
    const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - heard_at_);
    heard_ = false;
    excused_ = false;
    waitForSign(times_.silence - std::min(ago, times_.heartbeat));
  }

  void waitForSign(std::chrono::milliseconds limit) {
    if (silence_) loop_.cancel(*silence_);
    silence_ = loop_.postAfter(limit, [this] {
      silence_.reset();
      if (heard_) return armSilence();
      if (stoodStill() && !std::exchange(excused_, true)) return waitForSign(times_.heartbeat);
      stop();
      silent_();
    });
  }

  bool stoodStill() const { return quiet() > times_.heartbeat * 3 / 2; }

  Loop& loop_;
  const LinkTimes times_;
  const std::function<void()> beat_;
  const std::function<void()> silent_;
  std::optional<TimerId> tick_;
  std::optional<TimerId> silence_;
  bool heard_ = false;
  bool expects_silence_ = false;  ///< silence is expected
  bool excused_ = false;          ///< a heartbeat more has been given since something was heard
  Clock::time_point heard_at_;
  Clock::time_point ticked_at_;
  std::chrono::milliseconds quiet_{};
};

}  // namespace pop
