// SPDX-License-Identifier: Apache-2.0
// The work of popdist-pmix: takes the agent's messages, and serves the instances of one job until the agent
// hangs up.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/mpi/pmix/pmix_wire.h"
#include "agent/mpi/pmix_program/pmix_relay.h"
#include "agent/mpi/pmix_program/pmix_server.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::pmix {

class Session {
 public:
  /// `control`: speaks agent/mpi/pmix/pmix_wire.h. `listener`: where the instances connect. `loop` outlives
  /// it.
  Session(os::EpollLoop& loop, sys::Fd control, sys::Fd listener);

  /// Returns the program's exit code when the agent has hung up, or the instances cannot be served.
  int run();

 private:
  void receive();
  Status handle(const contract::Frame& frame);
  Status begin(agent::PmixJob job);
  void send(agent::PmixMessage type, std::vector<std::string> fields);
  void end(const Status& why);

  os::EpollLoop& loop_;
  const sys::Fd control_;
  sys::Fd listener_;
  contract::FrameReader reader_;
  std::string directory_;  ///< made by us
  std::unique_ptr<PmixServer> server_;
  std::optional<Relay> relay_;
  Status ended_by_;
};

}  // namespace pop::pmix
