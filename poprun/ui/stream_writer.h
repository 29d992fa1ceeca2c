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
    std::function<void()> drained;          ///< everything queued was written
    std::function<void(int error)> failed;  ///< once; EPIPE: no reader; later data is dropped
  };

  /// `fd` still belongs to the caller.
  StreamWriter(os::EpollLoop& loop, int fd, Events events);
  ~StreamWriter();

  /// Writes as much as possible now and queues the rest.
  void write(std::string_view text);

  /// The same without a copy: append to the queued data, then call send(). Do not change data that is already
  /// queued.
  std::string& waiting();
  void send();

  std::size_t waitingBytes() const { return waiting_.size() - written_; }
  bool failed() const { return failed_; }

  /// Drops the queued data and everything written later.
  void abandon();

  /// Blocks until all data is written or the readers are gone. No writer waits for the reader of another.
  static void flush(const std::vector<StreamWriter*>& writers);

  /// Writes as much as fits without waiting for a reader, even after a failure or abandon().
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
  std::size_t written_ = 0;  ///< bytes of waiting_ that were written
  bool watching_ = false;
  bool failed_ = false;
};

}  // namespace pop
