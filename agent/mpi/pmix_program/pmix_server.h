// SPDX-License-Identifier: Apache-2.0
// libpmix's server for the instances of this host. Its one home: libpmix has threads of its own, and one
// server in a process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/mpi/pmix/pmix_wire.h"
#include "common/base/loop.h"

namespace pop::pmix {

/// Called on the loop's thread.
struct ServerEvents {
  std::function<void(std::string blob)> fence_reached;  ///< see PmixServer::release
  std::function<void(int instance, int status, const std::string& message)> aborted;
  std::function<void()> finalized;  ///< an instance's program; it closes its connection afterwards
  std::function<void(int instance, const std::string& command)> spawn_refused;
  /// `instance` has called MPI_Init, and an earlier program of it no MPI_Finalize. libpmix 4 counts it no
  /// more among those that a fence waits for, if that program has ended.
  std::function<void(int instance)> unfinished;
  /// `instance` has called MPI_Init, which waits for a call of `ended` for ever.
  std::function<void(int instance, int ended)> stuck;
};

class PmixServer {
 public:
  /// Serves the instances of `job` on this host. `loop` outlives the server, which lives as long as the
  /// process. Takes some 10 ms. The error says what libpmix does not do.
  static Result<std::unique_ptr<PmixServer>> start(Loop& loop, const agent::PmixJob& job,
                                                   ServerEvents events);

  virtual ~PmixServer() = default;

  /// Its port on 127.0.0.1.
  virtual int port() const = 0;

  /// Answers the fence that was reached: `blob` is what the processes of all hosts have contributed, host by
  /// host in any order.
  virtual void release(std::string blob) = 0;

  /// An instance of this host has exited with code 0.
  virtual void ended(int instance) = 0;
};

}  // namespace pop::pmix
