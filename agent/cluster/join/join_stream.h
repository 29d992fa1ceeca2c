// SPDX-License-Identifier: Apache-2.0
// One attempt to join: a connection to popdistd, and on it the stream Hosts.Join. Messages stay encoded.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "common/base/loop.h"
#include "proto/popdist/v1/relay.pb.h"

namespace pop::joining {

namespace v1 = ::popdist::v1;

/// Only on the loop's thread.
class HostStream {
 public:
  struct Events {
    /// A HostOrder. No other one comes before takeNext().
    std::function<void(std::string order)> order;
    std::function<void()> written;  ///< unsentBytes() is less than before
    /// Once, the last. In words.
    std::function<void(const std::string& why)> closed;
  };

  /// Begins to connect. `loop` outlives the stream.
  HostStream(Loop& loop, const v1::RelayConnect& connect, Events events);
  ~HostStream();  ///< cancels it; no more events
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  /// Sends a HostReport. At most one is with gRPC, which would else keep them without end.
  void send(std::string report);

  /// Sends nothing more after what there is. popdistd then ends the stream.
  void finish();

  std::size_t unsentBytes() const { return unsent_bytes_; }

  void takeNext();

 private:
  class Call;

  void writeNext();
  void wrote();

  Loop& loop_;
  Events events_;
  std::shared_ptr<Call> call_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;  ///< with the one that is being written
  std::size_t writing_bytes_ = 0;
  bool is_writing_ = false;
  bool is_finishing_ = false;
};

}  // namespace pop::joining
