// SPDX-License-Identifier: Apache-2.0
// Serves the instances that use libpopdist, through a socket with an abstract name (which leaves no file
// behind), frames of common/contract/instance_wire.h, and this host's shared-memory segment, which is made
// when the first instance asks for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/rendezvous/answered_socket.h"
#include "agent/rendezvous/host_fence.h"
#include "agent/rendezvous/host_segment.h"
#include "common/contract/frame.h"
#include "common/contract/instance_wire.h"
#include "common/os/epoll_loop.h"
#include "common/ports/job_slice.h"
#include "common/sys/fd.h"

namespace pop::agent {

class InstanceServer final : private FenceMembers {
 public:
  struct Events {
    std::function<void(PutValues)> fence_reached;
    std::function<void(int instance, int exit_code, const std::string& message)> aborted;
  };

  InstanceServer(os::EpollLoop& loop, Events events);
  ~InstanceServer() override;

  /// Returns the name of the socket. Called again for each run; connections from the previous run are closed.
  Result<std::string> open(const JobSlice& slice);
  void releaseFence(const PutValues& values);
  void announce(const EndNotice& end_notice);
  /// The instances' reports that have changed since the last call.
  std::vector<InstanceValue> takeReported();
  int toldBy(int instance) const { return segment_.exists() ? segment_.toldBy(instance) : -1; }

 private:
  struct Connection {
    Connection(os::EpollLoop& loop, sys::Fd fd, AnsweredSocket::Events events)
        : socket(loop, std::move(fd), std::move(events)) {}

    AnsweredSocket socket;
    contract::FrameReader reader;
    int instance = -1;  ///< -1: has not said hello
  };

  bool readsAnswers(int instance) const override;
  void fenceReached(PutValues values) override { events_.fence_reached(std::move(values)); }
  void fenceReleased(int instance) override;
  void fenceFailed(int instance, const FenceError& error) override;

  void reset();
  void listen();
  void accept();
  void receive(int fd);
  void handleFrames(int fd);
  bool handle(int fd, Connection& connection, const contract::Frame& frame);
  void getAll(Connection& connection, const std::string& prefix);
  void abort(Connection& connection, const contract::Frame& frame);
  void hello(int fd, Connection& connection, const contract::Frame& frame);
  void refuse(int fd, Connection& connection, const FenceError& error);
  Status makeSegment(std::size_t most_bytes);
  static void send(Connection& connection, contract::InstanceMessage type, std::vector<std::string> fields);
  static void sendError(Connection& connection, const FenceError& error);
  void close(int fd);

  os::EpollLoop& loop_;
  const Events events_;
  std::string job_id_;
  std::string key_;
  std::string host_address_;
  int num_instances_ = 0;
  bool reports_wanted_ = false;
  std::set<int> local_instances_;
  std::set<int> have_aborted_;  ///< of these
  sys::Fd listener_;
  bool listening_ = false;    ///< not while there are no descriptors left to accept with
  bool has_refused_ = false;  ///< an unauthenticated client
  std::map<int, Connection> connections_;
  std::map<int, int> fd_of_;  ///< by instance: those that have said hello
  HostSegment segment_;
  std::map<int, std::vector<contract::ReadReport>> reported_;  ///< by instance, when last looked at
  std::unique_ptr<HostFence> fence_;
  std::vector<EndNotice> deaths_;
};

}  // namespace pop::agent
