// SPDX-License-Identifier: Apache-2.0
// The members of a group exchange what they need before it exists: how to reach each rank, and where the
// control block lies in the segment. They put their offers, meet in a fence, and then read all offers. A
// group with a name meets at the doors of its members instead, without the other instances.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libpopdist/collectives/group/members.h"
#include "libpopdist/collectives/messages/transport/connections.h"

namespace popdist::group {

inline constexpr const char* kCreate = "creating a communicator";

/// The control block of the ranks that share a host.
struct HostControlBlock {
  int members = 0;
  std::size_t offset = 0;  ///< offset in that host's segment
};

/// All functions throw popdist_error.
class Rendezvous {
 public:
  /// `name` empty: for the context's next group of all instances, which make these in the same order.
  /// Otherwise members alone make the group.
  Rendezvous(context::ContextState& context, const Members& members, const std::string& name)
      : context_(context),
        members_(members),
        name_(name),
        number_(name.empty() ? context.groups_created++ : -1) {}
  /// -1: not known before the members meet.
  int number() const { return number_; }
  /// The members of a group with a name meet once more, before they offer anything that needs the number.
  void agreeOnNumber();

  /// Offers the addresses of the local ranks on `backend`. Call it even without a transport (`failure` says
  /// why), so that the others do not wait.
  void offerAddresses(const std::string& backend, const transport::Connections* mine,
                      const pop::Status& failure);
  /// Called for a host's first rank, for all `members` there: takes memory for the control block from the
  /// segment.
  void offerControlBlock(int first_rank, int members);

  /// Enters the fence, or meets the other members. `settings` must be the same on all instances. Fails if
  /// they use different backends.
  void meet(const std::string& settings);

  // After the fence, for members only:

  /// The addresses of all ranks. Fails with the reason of a member that has none.
  std::vector<std::string> addresses() const;
  /// The control block of each host, in order of ranks. kResourceExhausted if a segment was full.
  std::vector<HostControlBlock> controlBlocks() const;

 private:
  std::string keyOf(const std::string& what) const;
  void meetAll(const std::string& settings);
  void meetMembers(int round, const std::string& settings);
  void offer(const std::string& what, const std::string& text);
  std::string offeredAs(const std::string& what) const;
  std::string backendOf(int rank) const;
  void compareBackends() const;

  context::ContextState& context_;
  const Members& members_;
  const std::string name_;
  int number_;
  std::string backend_ = context::kNativeBackend;  ///< among this group's ranks
  context::Link::Values own_;                      ///< of a group with a name, by their purpose
  context::Link::Values offers_;                   ///< of all members, by their purpose
};

}  // namespace popdist::group
