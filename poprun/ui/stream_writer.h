// SPDX-License-Identifier: Apache-2.0
// Writes to poprun's own stdout or stderr without ever blocking the loop, whatever is on the other side.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop {

class StreamWriter {
 public:
  struct Events {
    std::function<void()> drained;          ///< nothing is waiting any more
    std::function<void(int error)> failed;  ///< once, EPIPE: nobody reads; everything from then on is dropped
  };

  /// `fd` stays the caller's.
  StreamWriter(os::EpollLoop& loop, int fd, Events events);
  ~StreamWriter();

  /// Writes what it can now and keeps the rest.
  void write(std::string_view text);

  /// The same without a copy: append to what waits, then send(). Nothing else must touch what is there.
  std::string& waiting();
  void send();

  std::size_t waitingBytes() const { return waiting_.size() - written_; }
  bool failed() const { return failed_; }

  /// Drops what is waiting, and everything from now on.
  void abandon();

  /// Blocks until everything is out, or the other sides are gone; none of `writers` waits for another's.
  static void flush(const std::vector<StreamWriter*>& writers);

  /// What fits at once, after a failure or abandon(); does not wait for a reader.
  void lastWords(std::string_view text) const;

 private:
  int descriptor() const { return own_.valid() ? own_.get() : original_; }
  ssize_t writeSome(std::string_view text) const;
  void push();
  void watch();
  void unwatch();
  void fail(int error);

  os::EpollLoop& loop_;
  const int original_;
  const sys::Fd own_;
  const sys::Fd
      readiness_;  ///< of the original, where there is no own: it stays as it is for all who share it
  const bool is_socket_;
  const bool is_file_;
  const bool may_block_;  ///< the original, which is all there is: written to only as far as it has room
  const Events events_;
  std::string waiting_;
  std::size_t written_ = 0;  ///< of waiting_
  bool watching_ = false;
  bool failed_ = false;
};

}  // namespace pop
