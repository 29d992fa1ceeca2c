// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/controller_link.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"

namespace pop::agent {
namespace {

constexpr std::chrono::milliseconds kFirstDelay{200};
constexpr std::chrono::milliseconds kLongestDelay{5000};
// Another may have taken over meanwhile.
constexpr std::chrono::milliseconds kLongestDelayOfSeveral{1000};
constexpr std::chrono::milliseconds kStopTimeout{1000};

// Most bytes that wait for popdistd in this process; popdist-join keeps as much.
constexpr std::size_t kFullBytes = 4 << 20;
// Limit for the messages that must be sent nevertheless: a daemon that gives orders without end and reads no
// answer is not one.
constexpr std::size_t kMaxUnsentBytes = 64 << 20;

constexpr std::size_t kMaxOrderBytes = (64 << 20) + 16;  // as a RelayMessage

// Hosts that have lost the same daemon do not all come back in the same instant.
std::uint64_t seed() {
  return static_cast<std::uint64_t>(::getpid()) ^
         static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

}  // namespace

ControllerLink::ControllerLink(os::EpollLoop& loop, ZombieReaper& zombies, LinkSettings settings,
                               Events events)
    : loop_(loop),
      zombies_(zombies),
      settings_(std::move(settings)),
      events_(std::move(events)),
      delay_(kFirstDelay),
      random_(seed()) {}

ControllerLink::~ControllerLink() {
  if (timer_) loop_.cancel(*timer_);
  endProgram();
}

void ControllerLink::endProgram() {
  stream_.reset();
  words_.reset();
  process_.kill();
}

void ControllerLink::attempt() {
  timer_.reset();
  if (const Status connects = tryToConnect(); !connects.ok()) return lost(connects.message());
  is_open_ = true;
  events_.opened();
}

Status ControllerLink::tryToConnect() {
  v1::RelayMessage message;
  POP_ASSIGN_OR_RETURN(*message.mutable_connect(), settings_.connect(controller()));
  if (!stream_) POP_RETURN_IF_ERROR(startProgram());
  stream_->send(message);
  return {};
}

Status ControllerLink::startProgram() {
  POP_ASSIGN_OR_RETURN(process_,
                       startJobProcess(settings_.user, {settings_.program}, settings_.agent, zombies_));
  words_.emplace(loop_, std::move(process_.errors()));
  stream_ = std::make_unique<wire::MessageStream>(
      loop_, std::move(process_.stream()), sys::Fd(),
      wire::MessageStream::Events{.message = [this](const std::string& message) { take(message); },
                                  .ended = [this](const Status&) { loop_.post([this] { programEnded(); }); },
                                  .written =
                                      [this] {
                                        if (is_open_) events_.written();
                                      }});
  stream_->setMostBytes(kMaxOrderBytes);
  stream_->setMostUnsent(kMaxUnsentBytes);
  return {};
}

void ControllerLink::send(std::string_view report) {
  if (!is_open_) return;
  v1::RelayMessage message;
  message.set_report(report.data(), report.size());
  stream_->send(message);
}

bool ControllerLink::isFull() const {
  return is_open_ && stream_->unsentBytes() > kFullBytes;
}

void ControllerLink::take(const std::string& message) {
  if (!is_open_) return;
  v1::RelayMessage said;
  const bool is_relays = said.ParseFromString(message);
  if (is_relays && said.has_order()) return events_.order(said.order());
  if (is_relays && said.has_closed()) return lost(said.closed());
  reject("popdist-join is not of this version: install both from one poprun");
}

void ControllerLink::programEnded() {
  if (stopped_) return finishStop();
  if (!stream_) return;
  const std::string how = describeEnd(process_, *words_);
  endProgram();
  if (is_open_) lost("popdist-join " + how);
}

void ControllerLink::confirm() {
  is_confirmed_ = true;
  delay_ = kFirstDelay;
  last_notes_.clear();
}

void ControllerLink::reject(const std::string& why) {
  loop_.post([this, why] {
    endProgram();
    if (is_open_) lost(why);
  });
}

// popdist-join sends what it has, and ends.
void ControllerLink::stop(std::function<void()> stopped) {
  stopped_ = std::move(stopped);
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  if (!is_open_) return finishStop();
  stream_->end({});
  timer_ = loop_.postAfter(kStopTimeout, [this] { finishStop(); });
}

void ControllerLink::finishStop() {
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  is_open_ = false;
  endProgram();
  if (const auto stopped = std::exchange(stopped_, nullptr)) stopped();
}

void ControllerLink::lost(const std::string& why) {
  if (stopped_) return;  // its program ends, too
  const std::string note =
      (std::exchange(is_confirmed_, false) ? "lost popdistd at " : "cannot join popdistd at ") +
      controller() + ": " + printable(why) + "; trying again";
  if (std::string& last = last_notes_[controller()]; last != note) {
    log::warning(note);
    last = note;
  }
  ++attempts_;
  if (std::exchange(is_open_, false)) events_.closed();
  const auto jitter =
      std::chrono::milliseconds(random_.below(static_cast<std::uint64_t>(delay_.count() / 2)));
  timer_ = loop_.postAfter(delay_ - jitter, [this] { attempt(); });
  delay_ = std::min(delay_ * 2, settings_.controllers.size() > 1 ? kLongestDelayOfSeveral : kLongestDelay);
}

}  // namespace pop::agent
