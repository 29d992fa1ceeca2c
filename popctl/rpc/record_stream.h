// SPDX-License-Identifier: Apache-2.0
// The records of a job of popdistd, by Logs or, with a hand on it, by Attach. A lost connection is made anew,
// from the next record: none is missed, and none comes twice.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "common/base/loop.h"
#include "popctl/rpc/controller_client.h"
#include "popctl/rpc/record_download.h"
#include "runner/record_feed.h"

namespace pop::popctl {

class RecordStream final : public runner::RecordFeed {
 public:
  /// All outlive this. `say` takes lines for people, on the loop's thread.
  RecordStream(Loop& loop, ControllerClient& client, RecordsOf of, std::function<void(std::string_view)> say);
  ~RecordStream() override;

  Status open(Events events) override;
  Result<std::optional<runner::Record>> next() override;
  std::optional<runner::FeedEnd> ended() override;
  bool reachesRunner() const override;
  void stop(int signal) override { send(signal); }
  void signal(int signal) override { send(signal); }

 private:
  void send(int signal);

  Loop& loop_;
  ControllerClient& client_;
  const RecordsOf of_;
  const std::function<void(std::string_view)> say_;
  std::shared_ptr<Events> events_;  ///< gone with this: what is posted then does nothing
  std::optional<RecordReader> reader_;
};

}  // namespace pop::popctl
