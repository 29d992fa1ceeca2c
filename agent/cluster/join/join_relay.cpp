// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/join/join_relay.h"

#include <utility>

namespace pop::joining {
namespace {

// Reports that wait for popdistd; the rest waits in the service.
constexpr std::size_t kMaxUnsentBytes = 4 << 20;

}  // namespace

Relay::Relay(os::EpollLoop& loop, sys::Fd service, std::function<void()> over)
    : loop_(loop),
      over_(std::move(over)),
      service_(loop, std::move(service), sys::Fd(),
               {.message = [this](const std::string& message) { take(message); },
                .ended = [this](const Status& how) { serviceEnded(how); },
                .written =
                    [this] {
                      if (std::exchange(waits_, false) && host_) host_->takeNext();
                    }}) {}

void Relay::take(const std::string& message) {
  v1::RelayMessage said;
  if (!said.ParseFromString(message)) return over_();
  if (said.has_connect()) return connect(said.connect());
  if (!said.has_report()) return over_();
  if (!is_open_) return;
  host_->send(std::move(*said.mutable_report()));
  if (host_->unsentBytes() > kMaxUnsentBytes) service_.pause();
}

void Relay::connect(const v1::RelayConnect& connect) {
  waits_ = false;
  is_open_ = true;
  host_ = std::make_unique<HostStream>(
      loop_, connect,
      HostStream::Events{.order = [this](std::string order) { pass(std::move(order)); },
                         .written =
                             [this] {
                               if (host_->unsentBytes() <= kMaxUnsentBytes) service_.resume();
                             },
                         .closed = [this](const std::string& why) { closed(why); }});
}

void Relay::pass(std::string order) {
  v1::RelayMessage message;
  message.set_order(std::move(order));
  service_.send(message);
  waits_ = service_.unsentBytes() > 0;
  if (!waits_) host_->takeNext();
}

void Relay::serviceEnded(const Status& how) {
  if (!how.ok() || !is_open_) return over_();
  is_ending_ = true;
  host_->finish();
}

// The stream's object stays until the next one: this is a call of its own.
void Relay::closed(const std::string& why) {
  is_open_ = false;
  if (is_ending_) return over_();
  service_.resume();
  v1::RelayMessage message;
  message.set_closed(why);
  service_.send(message);
}

}  // namespace pop::joining
