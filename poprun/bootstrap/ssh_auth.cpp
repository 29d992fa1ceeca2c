// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh_auth.h"

#include <libssh/libssh.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "common/sys/unix_socket.h"
#include "poprun/bootstrap/libssh_drive.h"

namespace pop {
namespace {

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

constexpr std::chrono::milliseconds kAgentPatience{5000};

// What was tried is what the user has to know when nothing worked.
class Attempts {
 public:
  Attempts(ssh_session session, const Wait& wait) : session_(session), wait_(wait) {}

  // True: the server lets us in.
  Result<bool> tryFile(const std::string& path) {
    if (::access(path.c_str(), R_OK) != 0) {
      tried_.push_back(path + " (cannot be read)");
      some_unusable_ = true;
      return false;
    }
    ssh_key loaded = nullptr;
    if (ssh_pki_import_privkey_file(path.c_str(), "", nullptr, nullptr, &loaded) != SSH_OK) {
      tried_.push_back(path + " (no key, or one with a passphrase: run ssh-add " + path + ")");
      some_unusable_ = true;
      return false;
    }
    const Key key(loaded);
    tried_.push_back(path);
    // Signed at once: asking whether the key would do costs the server a look-up and us a round trip.
    return accepted(driveSsh(session_, SSH_AUTH_AGAIN, wait_,
                             [&] { return ssh_userauth_publickey(session_, nullptr, key.get()); }));
  }

  Result<bool> tryAgent() {
    const char* socket = std::getenv("SSH_AUTH_SOCK");
    char* configured = nullptr;
    const bool has_one = ssh_options_get(session_, SSH_OPTIONS_IDENTITY_AGENT, &configured) == SSH_OK;
    const std::string path = has_one && configured != nullptr ? configured : socket == nullptr ? "" : socket;
    ssh_string_free_char(configured);
    if (!has_one && path.empty()) {
      tried_.push_back("no ssh-agent (SSH_AUTH_SOCK is not set)");
      return false;
    }
    if (!answers(path)) {
      tried_.push_back("the ssh-agent at " + path +
                       " (it does not answer: " + (has_one ? "IdentityAgent" : "SSH_AUTH_SOCK") + ')');
      return false;
    }
    tried_.push_back("the keys of ssh-agent");
    return accepted(
        driveSsh(session_, SSH_AUTH_AGAIN, wait_, [&] { return ssh_userauth_agent(session_, nullptr); }));
  }

  bool someFileUnusable() const { return some_unusable_; }
  std::string tried() const { return join(tried_, ", "); }

 private:
  // libssh would wait for it for ever: one that was forwarded may be at the end of a dead connection. Which
  // keys it has is the shortest of questions; that there is none is for libssh to find out.
  bool answers(const std::string& path) const {
    constexpr std::string_view kWhichKeys("\0\0\0\1\x0b", 5);
    const Result<sys::Fd> agent = sys::connectPath(path);
    if (!agent.ok()) return agent.code() != Code::kResourceExhausted;
    if (!sys::sendAll(agent.value().get(), kWhichKeys).ok()) return true;
    const Wait patience(wait_.cancellation(), std::min(wait_.limit() / 2, kAgentPatience));
    return patience.forEvents(agent.value().get(), POLLIN).ok();
  }

  Result<bool> accepted(const Result<int>& outcome) {
    if (!outcome.ok()) return outcome.status();
    if (outcome.value() == SSH_AUTH_SUCCESS) return true;
    if (ssh_is_connected(session_) == 0) {
      return unavailable("the server closed the connection: " + std::string(ssh_get_error(session_)));
    }
    return false;
  }

  ssh_session session_;
  const Wait& wait_;
  std::vector<std::string> tried_;
  bool some_unusable_ = false;
};

}  // namespace

Status authenticate(ssh_session_struct* session, const std::string& who, const SshHostConfig& config,
                    const Wait& wait) {
  Attempts attempts(session, wait);
  for (const std::string& file : config.identity_files) {
    POP_ASSIGN_OR_RETURN(const bool in, attempts.tryFile(file));
    if (in) return {};
  }
  // The agent may hold what a named file keeps behind a passphrase.
  if (!config.identities_only || attempts.someFileUnusable() || config.identity_files.empty()) {
    POP_ASSIGN_OR_RETURN(const bool by_agent, attempts.tryAgent());
    if (by_agent) return {};
  }
  if (config.identity_files.empty()) {
    for (const std::string& file : usualIdentityFiles()) {
      if (::access(file.c_str(), F_OK) != 0) continue;
      POP_ASSIGN_OR_RETURN(const bool in, attempts.tryFile(file));
      if (in) return {};
    }
  }
  return {Code::kPermissionDenied, "no key is accepted for " + who + " (tried: " + attempts.tried() +
                                       "); check the user, or run: ssh-copy-id " + who};
}

}  // namespace pop
