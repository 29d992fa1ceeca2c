// SPDX-License-Identifier: Apache-2.0
#include "agent/job/host_rendezvous.h"

#include <utility>

namespace pop::agent {

HostRendezvous::HostRendezvous(os::EpollLoop& loop, const Events& events)
    : instances_(loop,
                 {.fence_reached = [reached = events.fence_reached](
                                       PutValues values) { reached(FenceId::kInstances, std::move(values)); },
                  .aborted = events.aborted}),
      pmi_(loop, {.fence_reached = [reached = events.fence_reached](
                                       PutValues values) { reached(FenceId::kPmi, std::move(values)); },
                  .aborted = events.aborted}) {}

Result<RendezvousPlaces> HostRendezvous::open(const JobSlice& slice) {
  RendezvousPlaces places;
  POP_ASSIGN_OR_RETURN(places.socket, instances_.open(slice));
  pmi_.open(slice);
  return places;
}

void HostRendezvous::releaseFence(FenceId fence, const PutValues& values) {
  switch (fence) {
    case FenceId::kInstances:
      return instances_.releaseFence(values);
    case FenceId::kPmi:
      return pmi_.release(values);
    case FenceId::kPmix:
      return;
  }
}

void HostRendezvous::announce(const EndNotice& end_notice) {
  instances_.announce(end_notice);
  pmi_.announce(end_notice);
}

}  // namespace pop::agent
