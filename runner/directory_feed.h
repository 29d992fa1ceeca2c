// SPDX-License-Identifier: Apache-2.0
// The records of a job of this host, from its directory, and its runner's socket.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/wire/message_stream.h"
#include "runner/record_feed.h"
#include "runner/store/record_store.h"

namespace pop::runner {

class DirectoryFeed final : public RecordFeed {
 public:
  struct Job {
    std::string directory;
    std::string name;     ///< for people: its number
    bool follows = true;  ///< until the job ends; else until the records that there are have been read
  };

  /// `loop` outlives this.
  DirectoryFeed(os::EpollLoop& loop, Job job) : loop_(loop), job_(std::move(job)) {}

  Status open(Events events) override;
  Result<std::optional<Record>> next() override { return reader_->next(); }
  std::optional<FeedEnd> ended() override;
  bool reachesRunner() const override { return runner_ != nullptr; }
  void stop(int signal) override;
  void signal(int signal) override;

 private:
  void connect();

  os::EpollLoop& loop_;
  const Job job_;
  Events events_;
  std::optional<RecordReader> reader_;
  std::unique_ptr<wire::MessageStream> runner_;  ///< null: there is no connection
  bool lives_ = false;                           ///< the runner, as of the last look
};

}  // namespace pop::runner
