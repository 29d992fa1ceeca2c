// SPDX-License-Identifier: Apache-2.0
// Reads the records of a job from popdistd on a thread of its own, which waits while nobody takes them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "popctl/rpc/controller_client.h"
#include "runner/record_feed.h"

namespace pop::popctl {

class Reconnects;

/// A job whose records are read.
struct RecordsOf {
  std::int64_t job = 0;
  std::uint64_t from_sequence = 0;
  bool follows = true;                               ///< until the job ends
  bool controls = false;                             ///< send() reaches it
  std::optional<std::chrono::milliseconds> timeout;  ///< of all of it
};

class RecordReader {
 public:
  /// Called on the reader's thread.
  struct Events {
    std::function<void()> more;  ///< take() or end() has something after they had nothing
    std::function<void()> lost;  ///< the connection, for the first time
  };

  RecordReader(ControllerClient& client, RecordsOf of, Events events);
  /// Ends the stream and the thread.
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // From any thread:

  std::optional<runner::Record> take();
  /// Once all has been taken and no more comes.
  std::optional<runner::FeedEnd> end() const;
  /// True if send() reaches the server.
  bool connected() const;
  void send(int signal);

 private:
  class Channel;  ///< the one stream of the moment

  void run();
  int stoppedBy() const;
  Status readOnce(Reconnects& reconnects);
  /// True if the reader goes on.
  bool accept(const v1::Record& record);
  std::optional<runner::FeedEnd> endAfter(Status& how);
  bool waitForNextAttempt();
  void finish(runner::FeedEnd end);
  void tell();

  ControllerClient& client_;
  const RecordsOf of_;
  const std::optional<std::chrono::system_clock::time_point> until_;
  const Events events_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<runner::Record> ahead_;
  std::size_t ahead_bytes_ = 0;
  bool told_ = false;  ///< events_.more, since take() had nothing
  std::optional<runner::FeedEnd> end_;
  bool stopping_ = false;
  int stopped_by_ = 0;                ///< the last signal that was to end the job
  std::unique_ptr<Channel> channel_;  ///< null: none
  bool open_ = false;                 ///< the channel

  // State of the thread:
  std::uint64_t next_sequence_ = 0;
  bool has_outcome_ = false;
  std::thread thread_;
};

}  // namespace pop::popctl
