// SPDX-License-Identifier: Apache-2.0
// The runner's end of its socket: what clients want of the job, and that there are new records for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/host.pb.h"
#include "runner/control/door.h"

namespace pop::runner {

class ControlServer final : public Door {
 public:
  /// `begun`: called when the job has.
  ControlServer(os::EpollLoop& loop, sys::Fd listener, DoorEvents events, std::function<void()> begun);
  ~ControlServer() override;
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  void begun(std::uint64_t) override { begun_(); }
  /// Tells the clients, once for all that are appended before the loop next waits.
  void appended() override;
  /// A client that does not know it yet sees the connection end, and reads what is there.
  void ended(std::function<void()> leave) override { leave(); }

 private:
  void accept();
  void take(std::uint64_t client, const std::string& message);
  bool passOn(const ::popdist::v1::RunnerOrder& order) const;
  void closeSoon(std::uint64_t client);

  os::EpollLoop& loop_;
  const sys::Fd listener_;
  const DoorEvents events_;
  const std::function<void()> begun_;
  std::map<std::uint64_t, std::unique_ptr<wire::MessageStream>> clients_;  ///< by their order
  std::uint64_t num_clients_ = 0;                                          ///< that have come
  std::set<std::uint64_t> closing_;  ///< of these, no further order counts
  std::optional<TimerId> close_;
  bool tells_ = false;
};

}  // namespace pop::runner
