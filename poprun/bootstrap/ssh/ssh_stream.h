// SPDX-License-Identifier: Apache-2.0
// Joins a command's channel to a socket: forwards bytes both ways, with backpressure, until one side ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/sys/fd.h"
#include "controller/hosts/bootstrapper.h"
#include "poprun/bootstrap/line_splitter.h"
#include "poprun/bootstrap/ssh/byte_pump.h"
#include "poprun/bootstrap/ssh/ssh_session.h"

namespace pop {

/// A command's stderr, and how it ended. Called on the pump's thread.
struct CommandEvents {
  std::function<void(const std::string& line)> said;
  std::function<void(int exit_code)> ended;  ///< before the socket is closed; or as in bootstrapper.h
};

class SshStream final : public Pumped {
 public:
  /// `socket`: non-blocking, our end of a pair.
  SshStream(std::unique_ptr<SshSession> session, sys::Fd socket, CommandEvents events);
  ~SshStream() override;

  void prepare(std::vector<pollfd>& fds) override;
  bool step(const pollfd* fds) override;

 private:
  bool fromNetwork();
  bool toSocket();
  void fromSocket();
  bool toNetwork();
  bool noticesLoss();

  std::unique_ptr<SshSession> session_;
  sys::Fd socket_;
  CommandEvents events_;
  LineSplitter lines_;
  std::string to_socket_;
  std::string to_network_;
  bool connected_ = true;
  bool output_ended_ = false;  ///< no more output will come from the command
  bool socket_ended_ = false;  ///< no more input will come from the socket
  bool hung_up_ = false;       ///< the socket's other end has also stopped reading
  bool end_sent_ = false;
};

}  // namespace pop
