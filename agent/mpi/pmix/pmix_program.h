// SPDX-License-Identifier: Apache-2.0
// The agent's end of popdist-pmix, which serves the instances of this host that speak PMIx, as those of Open
// MPI do. It is started when the first of them connects: other jobs pay for one socket.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "agent/keeper/keeper_link.h"
#include "agent/mpi/pmix/pmix_wire.h"
#include "common/base/byte_queue.h"
#include "common/contract/exit_code.h"
#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/ports/job_slice.h"
#include "common/sys/fd.h"

namespace pop::agent {

class PmixProgram {
 public:
  struct Events {
    /// All instances of this host have entered a fence; the values are for release().
    std::function<void(PutValues values)> fence_reached;
    std::function<void(int instance, int exit_code, const std::string& message)> aborted;
    /// Instances that speak PMIx cannot be served, and the job must end: they would wait, or run alone.
    std::function<void(const std::string& why)> failed;
  };

  /// Address at which the instances find it.
  struct Place {
    std::string port;       ///< on 127.0.0.1
    std::string directory;  ///< for their files; exists from the first connection to the job's end
  };

  /// `loop` and `keeper` outlive it.
  PmixProgram(os::EpollLoop& loop, KeeperLink& keeper, Events events, std::string program = {});
  ~PmixProgram();
  PmixProgram(const PmixProgram&) = delete;
  PmixProgram& operator=(const PmixProgram&) = delete;

  /// Waits for the connections of `slice`'s instances from now on. The error: no port of 127.0.0.1 can be
  /// had.
  Result<Place> open(const JobSlice& slice);

  /// The run is over: hangs up, whereupon the program ends.
  void reset();

  /// Answers the fence that was reached, with the values of all hosts.
  void release(const PutValues& values);

  /// An instance of the job, on any host, has ended.
  void announce(const EndNotice& end_notice);

  /// Handles what the program has sent. Call it before an instance's end is reported: if the instance has
  /// called MPI_Abort, the program has sent that before.
  void receive();

  /// The keeper's reports on process kPmixProgram.
  void onSpawnFailed(const std::string& why) { onEnded("could not be started: " + why); }
  void onReaped(const contract::ExitStatus& status) { onEnded(contract::describe(status)); }

 private:
  void onConnection();
  bool isOurs();
  void start(const std::string& program);
  void handle(const contract::Frame& frame);
  void onAbort(int instance, const contract::Frame& frame);
  void onSpawn(int instance, const std::string& command);
  void abort(int instance, int exit_code, const std::string& why);
  void onEnded(const std::string& how);
  void findStuck();
  void sendEnded(int instance);
  const PmixHost& here() const { return job_.hosts[static_cast<std::size_t>(job_.this_host)]; }
  bool isHere(int instance) const;
  void send(const contract::Frame& frame);
  void flush();
  void hangUp();
  void fail(const std::string& why);

  os::EpollLoop& loop_;
  KeeperLink& keeper_;
  const Events events_;
  const std::string program_;  ///< empty: our own, looked for when it is needed
  PmixJob job_;
  sys::Fd listener_;
  sys::Fd control_;
  contract::FrameReader reader_;
  ByteQueue unsent_;
  std::vector<int> ended_;  ///< instances of the job that have exited with code 0
  std::set<int> have_aborted_;
  bool in_fence_ = false;    ///< all of this host are
  bool expects_end_ = true;  ///< there is none, or its end is no news
};

}  // namespace pop::agent
