// SPDX-License-Identifier: Apache-2.0
// The link of an instance that was started by hand: to the server in instance 0. A thread of its own receives
// what the server says at any time: values, ends of instances, the end of the job. So get() sends no request,
// and a collective that waits sees end notices in this process's own segment.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/contract/frame.h"
#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"
#include "common/sys/forks.h"
#include "common/sys/memfd.h"
#include "libpopdist/collectives/cluster/link/roster.h"
#include "libpopdist/collectives/cluster/link/server.h"
#include "libpopdist/collectives/cluster/link/wire.h"
#include "libpopdist/collectives/context/link.h"

namespace popdist::cluster {

/// A connection to the server that has been welcomed, and what is kept with it.
struct Joined {
  pop::sys::Fd socket;
  pop::contract::FrameReader reader{kMostHelloBytes};
  std::string key;                 ///< the job's
  std::string own_address;         ///< numeric
  pop::sys::Fd own_place;          ///< reserves the own port; not of instance 0
  std::unique_ptr<Server> server;  ///< on instance 0
};

/// Between the word that the job ends and the end of this process: to others that have not heard it yet,
/// closed connections would look like a crash.
inline constexpr int kAbortSettles_ms = 100;

class ClusterLink final : public context::Link {
 public:
  /// `joined` is the connection of `instance`. kResourceExhausted: no memory can be mapped, or no thread
  /// started.
  static pop::Result<std::unique_ptr<ClusterLink>> start(const Roster& roster, int instance, Joined joined);
  /// Tells the others that this instance has ended: well, unless an exception passes or setBegun() was not
  /// called.
  ~ClusterLink() override;

  /// Tells the others now that this instance has ended, well or not. Nothing is possible afterwards.
  void leave(bool clean);
  /// All instances have come.
  void setBegun() { begun_ = true; }

  context::LinkError put(const std::string& key, const std::string& value,
                         std::chrono::milliseconds timeout) override;
  context::LinkError get(const std::string& key, std::chrono::milliseconds timeout,
                         std::optional<std::string>& value) override;
  context::LinkError getAll(const std::string& prefix, std::chrono::milliseconds timeout,
                            Values& values) override;
  context::LinkError fence(const std::string& tag, std::chrono::milliseconds timeout,
                           const Meanwhile& meanwhile) override;
  void abort(int exit_code, const std::string& message) override;
  transport::SegmentView segment() const override { return {segment_.data(), segment_.size(), &lent_}; }
  context::HostNetwork network() const override { return network_; }
  int hostCores() const override { return host_cores_; }

 private:
  using Clock = pop::sys::AwakeClock;

  ClusterLink(const Roster& roster, int instance, Joined joined, pop::sys::Mapping segment, int host_cores);
  context::LinkError usable() const;
  context::LinkError send(Message type, std::vector<std::string> fields, Clock::time_point deadline);
  context::LinkError gone() const;
  context::LinkError noAnswer();

  // The thread:
  void receiveAll();
  bool handle(pop::contract::Frame frame);
  bool ended(const pop::contract::Frame& frame);
  bool aborted(const pop::contract::Frame& frame);
  bool failed(const pop::contract::Frame& frame);
  void serverIsGone();
  void publishEnd(int instance, bool clean, const std::string& text);

  const Roster roster_;
  const int instance_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  const int exceptions_;  ///< that passed when this was made
  std::atomic<bool> begun_ = false;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> left_ = false;
  std::atomic<bool> aborting_ = false;
  const context::HostNetwork network_;
  const int host_cores_;
  const pop::sys::Fd own_place_;
  std::unique_ptr<Server> server_;
  pop::sys::Fd socket_;
  pop::sys::Mapping segment_;
  mutable transport::LentPieces lent_;

  pop::contract::FrameReader reader_;  // used by the thread
  std::vector<bool> known_ends_;       // used by the thread
  std::uint32_t end_notices_ = 0;      // used by the thread

  std::mutex call_mutex_;  ///< held by a fence, from its entry to its answer
  std::mutex send_mutex_;  ///< held while a frame is written
  bool cut_off_ = false;   ///< a frame was cut off: nothing can be sent after it

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  Values values_;
  std::uint64_t calls_ = 0;
  std::optional<context::LinkError> answer_;  ///< to call number calls_
  std::string server_end_;                    ///< not empty: the server is gone
  bool abort_heard_ = false;
  std::thread thread_;
};

}  // namespace popdist::cluster
