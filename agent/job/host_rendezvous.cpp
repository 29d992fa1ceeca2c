// SPDX-License-Identifier: Apache-2.0
#include "agent/job/host_rendezvous.h"

#include <utility>

namespace pop::agent {

HostRendezvous::HostRendezvous(os::EpollLoop& loop, KeeperLink& keeper, const Events& events)
    : instances_(loop,
                 {.fence_reached = [reached = events.fence_reached](
                                       PutValues values) { reached(FenceId::kInstances, std::move(values)); },
                  .aborted = events.aborted}),
      pmi_(loop, {.fence_reached = [reached = events.fence_reached](
                                       PutValues values) { reached(FenceId::kPmi, std::move(values)); },
                  .aborted = events.aborted}),
      pmix_(loop, keeper,
            {.fence_reached = [reached = events.fence_reached](
                                  PutValues values) { reached(FenceId::kPmix, std::move(values)); },
             .aborted = events.aborted,
             .failed =
                 [this, aborted = events.aborted](const std::string& why) {
                   aborted(first_instance_, contract::kExitLauncherFailed, why);
                 }}) {}

Result<RendezvousPlaces> HostRendezvous::open(const JobSlice& slice) {
  RendezvousPlaces places;
  POP_ASSIGN_OR_RETURN(places.socket, instances_.open(slice));
  pmi_.open(slice);
  if (slice.instances.empty() || !slice.env_families.contains(contract::EnvFamily::kPmix)) return places;
  first_instance_ = slice.instances.front().env.instance_index;
  // Without a loopback address, no MPI library works, and other programs do not need it.
  Result<PmixProgram::Place> pmix = pmix_.open(slice);
  if (!pmix.ok()) return places;
  places.pmix_port = std::move(pmix->port);
  places.mpi_directory = std::move(pmix->directory);
  return places;
}

void HostRendezvous::releaseFence(FenceId fence, const PutValues& values) {
  switch (fence) {
    case FenceId::kInstances:
      return instances_.releaseFence(values);
    case FenceId::kPmi:
      return pmi_.release(values);
    case FenceId::kPmix:
      return pmix_.release(values);
  }
}

void HostRendezvous::announce(const EndNotice& end_notice) {
  instances_.announce(end_notice);
  pmi_.announce(end_notice);
  pmix_.announce(end_notice);
}

}  // namespace pop::agent
