// SPDX-License-Identifier: Apache-2.0
// Serves this host's instances, whichever library they speak with.
#pragma once

#include <functional>
#include <string>

#include "agent/core/ports.h"
#include "agent/mpi/pmi_server.h"
#include "agent/rendezvous/instance_server.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::agent {

class HostRendezvous final : public Rendezvous {
 public:
  struct Events {
    std::function<void(FenceId fence, PutValues values)> fence_reached;
    std::function<void(int instance, int exit_code, const std::string& message)> aborted;
  };

  HostRendezvous(os::EpollLoop& loop, const Events& events);

  Result<RendezvousPlaces> open(const JobSlice& slice) override;
  void releaseFence(FenceId fence, const PutValues& values) override;
  void announce(const EndNotice& end_notice) override;

  /// As PmiServer::connect.
  Result<sys::Fd> connectPmi(int instance) { return pmi_.connect(instance); }

 private:
  InstanceServer instances_;
  PmiServer pmi_;
};

}  // namespace pop::agent
