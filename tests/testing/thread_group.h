// SPDX-License-Identifier: Apache-2.0
// Instances that are threads of the test: they share a segment, fences and end notices as the instances of a
// host do, so collectives between them can be tested without processes, and under ThreadSanitizer.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libpopdist/collectives/context/memory_link.h"
#include "libpopdist/collectives/context/transport_settings.h"
#include "popdist/context.hpp"

namespace popdist::testing {

/// Longer than anything takes on a busy machine with a sanitizer.
inline constexpr std::chrono::seconds kJoinDeadline{25};

/// Runs body(0) … body(threads - 1), each in a thread of its own, and returns when all have returned. The
/// first exception is rethrown then; `on_exception` hears of each at once. A thread that is not back after
/// kJoinDeadline cannot be stopped: the process says which it is and aborts.
void runThreads(int threads, const std::function<void(int)>& body,
                const std::function<void(int, const std::string&)>& on_exception = {});

struct GroupShape {
  std::vector<int> replicas_of_instance;  ///< one entry for each instance
  int ipus_per_replica = 1;
  std::string system;
  bool offline = false;
  std::chrono::milliseconds timeout{20'000};  ///< Context::setTimeout on every instance
  context::TransportSettings transport;
  int instances_per_host = 0;     ///< 0: all are on one host; else as if they were on several
  std::size_t segment_bytes = 0;  ///< the shared memory's; 0: as much as poprun provides
};

class ThreadGroup {
 public:
  using Body = std::function<void(Context&)>;

  /// `instances` with one replica each.
  explicit ThreadGroup(int instances);
  explicit ThreadGroup(GroupShape shape);

  /// Makes a context for each instance and runs `body` with it. An instance whose body throws has failed for
  /// the others, as if its process had crashed. Once.
  void run(const Body& body);

  /// Tells the others that the instance has ended.
  void end(int instance, bool clean, const std::string& text) { hub_->end(instance, clean, text); }

  int instances() const { return static_cast<int>(shape_.replicas_of_instance.size()); }

 private:
  void runInstance(int instance, const Body& body);

  const GroupShape shape_;
  std::shared_ptr<context::MemoryHub> hub_;
};

}  // namespace popdist::testing
