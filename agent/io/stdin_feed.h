// SPDX-License-Identifier: Apache-2.0
// Feeds the instances' stdin. A single instance gets the launcher's own stdin, as if started without a
// launcher. Several instances, or one at a terminal, get copies of what the feed reads: only as fast as the
// slowest of them reads, and never more than one buffer ahead.
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
  /// `source` belongs to the caller. `on_unread` is called when all instances have closed their stdin, or
  /// ended, while the run goes on; input is then read and dropped until the next run. Without it, input is
  /// left unread.
  StdinFeed(os::EpollLoop& loop, int source, std::function<void()> on_unread = nullptr);
  ~StdinFeed();
  StdinFeed(const StdinFeed&) = delete;
  StdinFeed& operator=(const StdinFeed&) = delete;

  /// Begins a run of `num_instances`. It first gets the input that the previous run has not taken.
  void begin(const model::StdinPolicy& policy, int num_instances);

  /// Adds `more` receivers. Nothing is read before they have theirs, too.
  void expect(int more) { expected_ += more; }

  /// Returns the stdin to start the instance with. Nothing is read before all instances have theirs.
  Result<sys::Fd> open(int instance);

  /// Stops feeding the instance. Input that the last instance has not taken goes first to the next run.
  void close(int instance);

  /// The run has failed or is being stopped: input that is not yet dropped is kept for the next run.
  void keep();

  /// Bytes read from the source so far.
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
  sys::Fd readiness_;          ///< readiness of the source: the loop makes watched descriptors non-blocking
  bool always_ready_ = false;  ///< a regular file: cannot be watched
  model::StdinPolicy policy_;
  int expected_ = 0;  ///< receivers that have not been opened yet
  Receivers receivers_;
  std::string buffer_;
  std::size_t not_taken_from_ = 0;  ///< position in buffer_ at which a receiver begins
  bool watching_ = false;
  bool at_end_ = false;
  std::int64_t bytes_read_ = 0;
  std::optional<TimerId> timer_;
  std::optional<TimerId> unread_timer_;
  // Input that no instance of this run reads:
  bool keeps_ = false;  ///< it is for the next one
  bool drops_ = false;
};

}  // namespace pop::agent
