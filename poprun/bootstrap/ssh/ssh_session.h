// SPDX-License-Identifier: Apache-2.0
// One SSH session by libssh: key exchange, host key, authentication, one channel with a command. Until the
// command runs it is driven by one thread that waits; then by whoever moves its bytes, without waiting.
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

  /// Gives libssh what options and configuration say. Then host() and port() are where to dial.
  Status configure();
  std::string host() const;
  int port() const;

  /// On a dialled connection: from the greeting to an authenticated session.
  Status open(sys::Fd socket, Wait& wait, const PhaseReport& phase);
  Status execute(const std::string& command, Wait& wait);

  // ---- from here on nothing waits

  int fd() const;
  bool hasUnsent() const;
  /// Takes what the socket has. False: the session is over.
  bool receive();
  bool isConnected() const;  ///< as far as all that was asked of it since has shown
  /// Bytes that have come on stdout or stderr: how many of `room` were filled; 0: none now.
  int read(char* room, int bytes, bool is_stderr);
  /// How many of `bytes` the other side has room for and were taken.
  int write(std::string_view bytes);
  void sendEnd();
  bool ended() const;  ///< the command has ended, and all of its output was read; or nothing is connected
  /// Its exit code; -1: not known.
  int exitCode() const;

 private:
  struct FreeSession {
    void operator()(ssh_session_struct* session) const;
  };

  struct FreeEvent {
    void operator()(ssh_event_struct* event) const;
  };

  void preferKnownKeys();
  Status setAlgorithms(const std::string& keyword, const std::string& value);
  std::string errorText() const;

  SshTarget target_;
  const SshOptions& options_;
  SshHostConfig config_;
  std::vector<std::string> known_hosts_;  ///< the user's file, and the system's
  sys::Fd socket_;
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;
  ssh_channel_struct* channel_ = nullptr;  ///< owned by the session
};

}  // namespace pop
