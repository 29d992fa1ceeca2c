// SPDX-License-Identifier: Apache-2.0
#include "runner/program/order_door.h"

#include <utility>

namespace pop::runner {

OrderDoor::OrderDoor(os::EpollLoop& loop, sys::Stdio stdio, const std::string& directory, DoorEvents events,
                     std::chrono::milliseconds silence)
    : loop_(loop),
      silence_(silence),
      stream_(loop, std::move(stdio), directory,
              {.stop = std::move(events.stop),
               .signal = std::move(events.signal),
               .service_stops = std::move(events.service_stops),
               .retire = [this] { neededNoMore(); },
               .heard =
                   [this] {
                     if (leave_) waitForOrders();
                   },
               .idle = [] {},
               .gone = [this] { neededNoMore(); }}) {}

OrderDoor::~OrderDoor() {
  if (timer_) loop_.cancel(*timer_);
}

// While the job runs, its end is waited for.
void OrderDoor::neededNoMore() {
  is_needed_ = false;
  if (leave_) leave_();
}

void OrderDoor::ended(std::function<void()> leave) {
  leave_ = std::move(leave);
  stream_.noMore();
  if (!is_needed_) return leave_();
  waitForOrders();
}

void OrderDoor::waitForOrders() {
  if (timer_) loop_.cancel(*timer_);
  timer_ = loop_.postAfter(silence_, [this] {
    timer_.reset();
    leave_();
  });
}

}  // namespace pop::runner
