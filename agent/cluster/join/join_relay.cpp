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
  const Result<Kind> kind = kindOf(message);
  if (!kind.ok()) return over_();
  if (kind.value() == Kind::kConnect) {
    const Result<Connect> to = decodeConnect(bodyOf(message));
    return to.ok() ? connect(to.value()) : over_();
  }
  if (kind.value() != Kind::kReport) return over_();
  if (!is_open_) return;
  host_->send(bodyOf(message));
  if (host_->unsentBytes() > kMaxUnsentBytes) service_.pause();
}

void Relay::connect(const Connect& connect) {
  waits_ = false;
  is_open_ = true;
  host_ = std::make_unique<HostStream>(
      loop_, connect,
      HostStream::Events{.order = [this](std::string_view order) { pass(order); },
                         .written =
                             [this] {
                               if (host_->unsentBytes() <= kMaxUnsentBytes) service_.resume();
                             },
                         .closed = [this](const std::string& why) { closed(why); }});
}

void Relay::pass(std::string_view order) {
  service_.send(message(Kind::kOrder, order));
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
  service_.send(message(Kind::kClosed, why));
}

}  // namespace pop::joining
