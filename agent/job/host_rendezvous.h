// SPDX-License-Identifier: Apache-2.0
// Serves this host's instances, whichever library they speak with.
#pragma once

#include <functional>
#include <string>

#include "agent/core/ports.h"
#include "agent/mpi/pmi/pmi_server.h"
#include "agent/mpi/pmix/pmix_program.h"
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

  /// `loop` and `keeper` outlive it.
  HostRendezvous(os::EpollLoop& loop, KeeperLink& keeper, const Events& events);

  Result<RendezvousPlaces> open(const JobSlice& slice) override;
  void releaseFence(FenceId fence, const PutValues& values) override;
  void announce(const EndNotice& end_notice) override;
  std::vector<InstanceValue> takeReported() override { return instances_.takeReported(); }
  int toldBy(int instance) const override { return instances_.toldBy(instance); }

  /// As PmiServer::connect.
  Result<sys::Fd> connectPmi(int instance) { return pmi_.connect(instance); }

  /// The run is over, and its leftovers are about to be ended.
  void reset() { pmix_.reset(); }

  /// Takes the keeper's reports on process kPmixProgram, and says why an instance ends.
  PmixProgram& pmix() { return pmix_; }

 private:
  InstanceServer instances_;
  PmiServer pmi_;
  PmixProgram pmix_;
  int first_instance_ = 0;  ///< of this host
};

}  // namespace pop::agent
