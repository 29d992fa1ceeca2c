// SPDX-License-Identifier: Apache-2.0
// --distribute-ssh-key: installs the user's ssh key on other hosts, so that logins need no password.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop {

struct KeySettings {
  std::vector<std::string> hosts;                  ///< as ssh is told
  std::vector<std::string> rsh{"ssh"};             ///< the remote shell and its options
  std::vector<std::string> copier{"ssh-copy-id"};  ///< empty: it cannot use `rsh`
  std::string home;                                ///< the user's home, which contains .ssh
  bool has_terminal = false;                       ///< the user can type a password
  int at_once = 16;                                ///< hosts asked at a time
  std::chrono::seconds connect_timeout{10};
  std::chrono::milliseconds timeout{40000};  ///< for each host: to connect and run `true`
};

/// Returns the errors, each naming its host; empty: all hosts accept a key. Hosts that already accept one are
/// not changed. For the others ssh-copy-id runs at the terminal, one after the other, and asks for the
/// password; where it cannot run, the error says what to do.
std::vector<std::string> distributeKey(const KeySettings& settings);

/// The user's public key: the first of id_ed25519, id_ecdsa, id_rsa. kNotFound says how to make one.
Result<std::string> publicKeyPath(const std::string& home);

}  // namespace pop
