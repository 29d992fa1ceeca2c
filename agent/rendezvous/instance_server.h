// SPDX-License-Identifier: Apache-2.0
// Serves the instances that use libpopdist, through a socket with an abstract name (which leaves no file
// behind), frames of common/contract/instance_wire.h, and this host's shared-memory segment, which is made
// when the first instance asks for it. Instances enter fences by message or through their slots in the
// segment.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/core/ports.h"
#include "agent/rendezvous/fence.h"
#include "agent/rendezvous/host_segment.h"
#include "common/base/byte_queue.h"
#include "common/contract/frame.h"
#include "common/contract/instance_wire.h"
#include "common/os/epoll_loop.h"
#include "common/ports/fence_bytes.h"
#include "common/sys/fd.h"

namespace pop::agent {

class InstanceServer final : public Rendezvous {
 public:
  struct Events {
    std::function<void(PutValues)> fence_reached;
    std::function<void(int instance, int exit_code, const std::string& message)> aborted;
  };

  InstanceServer(os::EpollLoop& loop, Events events);
  ~InstanceServer() override;

  Result<std::string> open(const JobSlice& slice) override;
  void releaseFence(const PutValues& values) override;
  void announce(const EndNotice& end_notice) override;

 private:
  struct Connection {
    sys::Fd socket;
    contract::FrameReader reader;
    ByteQueue untaken;        ///< answers: while there are any, nothing that the instance sends is looked at
    int instance = -1;        ///< -1: has not said hello
    std::uint32_t entry = 0;  ///< in its slot: the last one that is known here
    bool in_slot = false;     ///< that is how it is inside, and where it is answered
    TimerId fence_timer{};    ///< only when it has entered by message
    bool gave_up = false;     ///< its last fence timed out: it was there, others were not
  };

  struct FenceError {
    Code code;
    int instance;  ///< at fault, or -1
    std::string message;
  };

  void reset();
  void accept();
  void receive(int fd);
  void handleFrames(int fd);
  void handle(int fd, Connection& connection, const contract::Frame& frame);
  void getAll(int fd, Connection& connection, const std::string& prefix);
  void abort(int fd, Connection& connection, const contract::Frame& frame);
  void hello(int fd, Connection& connection, const contract::Frame& frame);
  void enterFence(int fd, Connection& connection, const contract::Frame& frame);
  void fenceLate(int fd, const Connection& connection, const contract::Frame& frame);
  bool takeEntries();
  void settleFence(int newest);
  void reachFence();
  void fenceTimeIsUp(int fd);
  void fenceTimedOut(int fd);
  bool isInside(const Connection& connection) const;
  FenceError whoIsMissing(int instance) const;
  bool gaveUp(int instance) const;
  void refuse(int fd, Connection& connection, Code code, int instance, const std::string& message);
  void failFence(const FenceError& error);
  Status makeSegment();
  void answerFence(int fd, Connection& connection, const std::optional<FenceError>& error);
  void wakeWaiters();
  void send(int fd, Connection& connection, contract::InstanceMessage type, std::vector<std::string> fields);
  void sendError(int fd, Connection& connection, Code code, int instance, const std::string& message);
  void flush(int fd, Connection& connection);
  void resume(int fd);
  void close(int fd);
  void listen();
  bool allAreHere() const { return local_instances_.size() == static_cast<std::size_t>(num_instances_); }
  const EndNotice* firstDeath() const { return deaths_.empty() ? nullptr : &deaths_.front(); }

  os::EpollLoop& loop_;
  const Events events_;
  std::string job_id_;
  std::string key_;
  std::string host_address_;
  int num_instances_ = 0;
  std::set<int> local_instances_;
  std::set<int> have_aborted_;  ///< of these
  std::unique_ptr<Fence> fence_;
  FenceBytes fence_bytes_{FenceBytes::kMost};  ///< since a fence was released, where other hosts are told
  sys::Fd listener_;
  bool listening_ = false;    ///< not while there are no descriptors left to accept with
  bool has_refused_ = false;  ///< an unauthenticated client
  std::map<int, Connection> connections_;
  HostSegment segment_;
  bool waiters_answered_ = false;  ///< in slots, and not woken yet
  std::vector<EndNotice> deaths_;
};

}  // namespace pop::agent
