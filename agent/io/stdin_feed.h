// SPDX-License-Identifier: Apache-2.0
// What the instances read on their stdin. One instance gets the launcher's own stdin, as if it had been
// started without a launcher; several, or one at a terminal, get what the feed reads there: only as fast as
// the slowest takes it, never more than one buffer ahead.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::agent {

class StdinFeed {
 public:
  /// `source` stays the caller's. `on_unread`: all have closed theirs, or ended, though the run goes on; what
  /// comes before the next one is then read and dropped. Without it, it is left to others.
  StdinFeed(os::EpollLoop& loop, int source, std::function<void()> on_unread = nullptr);
  ~StdinFeed();
  StdinFeed(const StdinFeed&) = delete;
  StdinFeed& operator=(const StdinFeed&) = delete;

  /// A run of `num_instances` begins. What the run before has not taken is the first that this one gets.
  void begin(const model::StdinPolicy& policy, int num_instances);

  /// So many more get it, beside those who do. Nothing is read before they have theirs, too.
  void expect(int more) { expected_ += more; }

  /// What the instance is to be started with as its stdin. Nothing is read before all have theirs.
  Result<sys::Fd> open(int instance);

  /// The instance gets no more. What the last one has not taken is the first that the next one gets.
  void close(int instance);

  /// The run fails, or is being stopped: what is not dropped by now is for the next one.
  void keep();

  /// Of the source, by now.
  std::int64_t bytesRead() const { return bytes_read_; }

 private:
  struct Receiver {
    sys::Fd pipe;           ///< write end
    std::size_t taken = 0;  ///< of buffer_
    bool watched = false;
  };
  using Receivers = std::map<int, Receiver>;

  bool receives(int instance) const;
  Result<sys::Fd> openPipe(int instance);
  void drop(Receivers::iterator receiver);

  void advance();
  bool settle();
  bool isWanted() const { return !receivers_.empty() || drops_; }
  void awaitFailure();
  void forgetUnread();
  bool offer(Receiver& receiver);
  void watchReceiver(int instance, Receiver& receiver);
  void awaitSource();
  void openReadiness();
  void stopAwaitingSource();
  void readSource();
  void finish();
  bool mayRead() const;

  os::EpollLoop& loop_;
  const int source_;
  const std::function<void()> on_unread_;
  const bool is_terminal_;
  sys::Fd own_;                ///< our own open file of the source, where it can be opened anew
  sys::Fd readiness_;          ///< of the source: the loop makes what it watches non-blocking
  bool always_ready_ = false;  ///< a regular file: cannot be watched
  model::StdinPolicy policy_;
  int expected_ = 0;  ///< receivers that have not been opened yet
  Receivers receivers_;
  std::string buffer_;
  std::size_t not_taken_from_ = 0;  ///< where a receiver begins in buffer_
  bool watching_ = false;
  bool at_end_ = false;
  std::int64_t bytes_read_ = 0;
  std::optional<TimerId> timer_;
  std::optional<TimerId> unread_timer_;
  // What nobody reads in this run:
  bool keeps_ = false;  ///< it is for the next one
  bool drops_ = false;
};

}  // namespace pop::agent
