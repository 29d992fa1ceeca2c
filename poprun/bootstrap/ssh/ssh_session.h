// SPDX-License-Identifier: Apache-2.0
// One SSH session by libssh: key exchange, host key, authentication, one channel with a command. Until the
// command runs, one thread drives it with blocking calls; afterwards the byte pump drives it without
// blocking.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/dial.h"
#include "poprun/bootstrap/ssh/ssh_config.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/bootstrap/ssh/ssh_target.h"
#include "poprun/bootstrap/ssh/wait.h"

struct ssh_session_struct;
struct ssh_channel_struct;
struct ssh_event_struct;

namespace pop {

class SshSession {
 public:
  SshSession(SshTarget target, const SshOptions& options, SshHostConfig config);
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  /// Applies options and configuration to libssh. kUnimplemented as for open().
  Status configure();
  const std::string& host() const { return config_.host_name; }
  int port() const { return config_.port; }

  /// On an open connection: runs the handshake and authenticates. kUnimplemented: libssh cannot do what the
  /// server asks for, and the ssh program may.
  Status open(sys::Fd socket, Wait& wait, const PhaseReport& phase);
  Status execute(const std::string& command, Wait& wait);

  // ---- the functions below never block

  int fd() const;
  bool hasUnsent() const;
  /// Reads from the socket. False: the session is over.
  bool receive();
  bool isConnected() const;  ///< as far as calls have shown
  /// Reads stdout or stderr into `room` and returns the number of bytes; 0: none now.
  int read(char* room, int bytes, bool is_stderr);
  /// Sends as many of `bytes` as the remote side has room for, and returns that number.
  int write(std::string_view bytes);
  void sendEnd();
  bool ended() const;  ///< the command has ended and all its output was read, or the connection is gone
  /// Its exit code; -1: not known.
  int exitCode() const;

 private:
  struct FreeSession {
    void operator()(ssh_session_struct* session) const;
  };

  struct FreeEvent {
    void operator()(ssh_event_struct* event) const;
  };

  bool setAlgorithms();
  std::string errorText() const;

  SshTarget target_;
  const SshOptions& options_;
  SshHostConfig config_;
  std::vector<std::string> known_hosts_;  ///< the user's files and the system's
  sys::Fd socket_;
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;
  ssh_channel_struct* channel_ = nullptr;  ///< owned by the session
};

}  // namespace pop
