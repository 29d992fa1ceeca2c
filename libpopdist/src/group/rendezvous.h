// SPDX-License-Identifier: Apache-2.0
// What the members of a group tell each other before it exists, through the link: where each rank can be
// reached, and where their control block lies in the segment. They offer it, meet in a fence, and then have
// everybody's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libpopdist/src/group/members.h"
#include "libpopdist/src/transport/connections.h"

namespace popdist::group {

inline constexpr const char* kCreate = "creating a communicator";

/// The control block of the ranks that share a host.
struct HostControlBlock {
  int members = 0;
  std::size_t offset = 0;  ///< in that host's segment
};

/// All functions throw popdist_error.
class Rendezvous {
 public:
  /// Of the context's next group; every instance makes them in the same order.
  Rendezvous(context::ContextState& context, const Members& members)
      : context_(context), members_(members), number_(context.groups_created++) {}
  int number() const { return number_; }

  /// Where the local ranks can be reached, on `backend`. Also when there is no transport (`failure` says
  /// why): the others must not wait for us.
  void offerAddresses(const std::string& backend, const transport::Connections* mine,
                      const pop::Status& failure);
  /// By a host's first rank, for all `members` there: takes the control block's piece of the segment.
  void offerControlBlock(int first_rank, int members);

  /// The fence. `settings`: what all instances must have alike besides. Fails where they run on different
  /// backends.
  void meet(const std::string& settings);

  // Afterwards, of members:

  /// Of all ranks, in order. Fails also with another's reason for having none, its code and who it is.
  std::vector<std::string> addresses() const;
  /// Of each host, in order of their ranks. Fails with kResourceExhausted when a segment was full.
  std::vector<HostControlBlock> controlBlocks() const;

 private:
  std::string keyOf(const std::string& what) const;
  void offer(const std::string& what, const std::string& text);
  std::string offeredAs(const std::string& what) const;
  std::string backendOf(int rank) const;
  void compareBackends() const;

  context::ContextState& context_;
  const Members& members_;
  const int number_;
  std::string backend_ = context::kNativeBackend;  ///< of this group's ranks
  context::Link::Values offers_;
};

}  // namespace popdist::group
