// SPDX-License-Identifier: Apache-2.0
// The door of a job that an agent service has started: its order stream.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runner/control/door.h"
#include "runner/program/order_stream.h"

namespace pop::runner {

class OrderDoor final : public Door {
 public:
  /// `silence`: how long it stays open without an order after the job's end.
  OrderDoor(os::EpollLoop& loop, sys::Stdio stdio, const std::string& directory, DoorEvents events,
            std::chrono::milliseconds silence = std::chrono::minutes(10));
  ~OrderDoor() override;
  OrderDoor(const OrderDoor&) = delete;
  OrderDoor& operator=(const OrderDoor&) = delete;

  void begun(std::uint64_t last_sequence) override { stream_.up(false, last_sequence); }
  void appended() override { stream_.appended(); }
  bool wantsReported() const override { return true; }
  void reported(const std::vector<JobValue>& values) override { stream_.reported(values); }
  /// Stays open until the order to retire, or the service is gone, or silent.
  void ended(std::function<void()> leave) override;

 private:
  void neededNoMore();
  void waitForOrders();

  os::EpollLoop& loop_;
  const std::chrono::milliseconds silence_;
  bool is_needed_ = true;
  std::function<void()> leave_;  ///< null: the job runs
  std::optional<TimerId> timer_;
  OrderStream stream_;
};

}  // namespace pop::runner
