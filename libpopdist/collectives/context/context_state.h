// SPDX-License-Identifier: Apache-2.0
// State that all objects of a context share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/contract/segment.h"
#include "libpopdist/collectives/choice/forced_algorithms.h"
#include "libpopdist/collectives/context/backends.h"
#include "libpopdist/collectives/context/groups.h"
#include "libpopdist/collectives/context/link.h"
#include "libpopdist/collectives/context/sole_thread.h"
#include "libpopdist/collectives/context/transport_settings.h"

namespace popdist::group {
class Door;
}

namespace popdist::context {

/// The longest timeout: it fits on the wire and can be added to any time. 24 days are as good as for ever.
inline constexpr std::chrono::milliseconds kLongestTimeout{INT32_MAX};

struct ContextState {
  mutable Groups groups;  ///< they come and go while the context is read
  std::unique_ptr<Link> link;
  mutable SoleThread fence_caller;               ///< the thread that enters fences
  mutable std::atomic<std::uint64_t> fences{0};  ///< that this instance has entered
  int instance_index = 0;
  int first_local_instance = 0;  ///< first instance of this host; its instances are consecutive
  int num_local_instances = 1;

  /// This host's instances outnumber the cores that the job may use.
  bool oversubscribed() const { return num_local_instances > link->hostCores(); }

  bool isLocal(int instance) const {
    return instance >= first_local_instance && instance < first_local_instance + num_local_instances;
  }
  std::atomic<std::chrono::milliseconds::rep> timeout_ms{300 * 1000};
  std::atomic<bool (*)()> interrupt_check{nullptr};  ///< Context::setInterruptCheck
  TransportSettings transport;
  BackendChoice backend{};  ///< backend of communicators; Pods do not use it
  std::optional<choice::ForcedAlgorithms>
      forced{};            ///< forced algorithms of communicators; unset: those of the environment
  int groups_created = 0;  ///< names the next group of all; every instance creates them in the same order
  std::shared_ptr<group::Door> door{};  ///< at which members make a group without the others

  /// A failure that begins on `instance` is thrown here, too. Should both end by it, poprun reports that one.
  void toldBy(int instance) const {
    pop::contract::SegmentHeader* const header = link->segment().header();
    if (instance < 0 || instance == instance_index || header == nullptr) return;
    pop::contract::fenceSlotsOf(header, header->instances)[static_cast<std::size_t>(instance_index)].told_by =
        static_cast<std::uint32_t>(instance) + 1;
  }

  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms.load()); }
};

}  // namespace popdist::context
