// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh_auth.h"

#include <libssh/libssh.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "poprun/bootstrap/agent_connection.h"
#include "poprun/bootstrap/libssh_drive.h"

namespace pop {
namespace {

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

constexpr const char* kFromEnvironment = "SSH_AUTH_SOCK";

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
    const auto [path, setting] = agentSocket();
    if (path.empty() || path == "none") {
      tried_.push_back("no ssh-agent (" + setting + (path.empty() ? " is not set)" : " is none)"));
      return false;
    }
    const auto agent = AgentConnection::open(path, wait_);
    if (agent.code() == Code::kCancelled) return agent.status();
    if (!agent.ok()) {
      const bool listens =
          agent.code() == Code::kDeadlineExceeded || agent.code() == Code::kResourceExhausted;
      tried_.push_back("the ssh-agent at " + path + " (" +
                       (listens ? "it does not answer" : agent.status().message()) + ": " + setting + ')');
      return false;
    }
    tried_.push_back("the keys of ssh-agent");
    return signedBy(*agent.value());
  }

  bool someFileUnusable() const { return some_unusable_; }
  std::string tried() const { return join(tried_, ", "); }

 private:
  struct AgentSocket {
    std::string path;     ///< empty: none
    std::string setting;  ///< where it was looked for
  };
  AgentSocket agentSocket() const {
    char* configured = nullptr;
    const bool has_one = ssh_options_get(session_, SSH_OPTIONS_IDENTITY_AGENT, &configured) == SSH_OK;
    const std::string path = has_one && configured != nullptr ? configured : "";
    ssh_string_free_char(configured);
    if (has_one && path != kFromEnvironment) return {path, "IdentityAgent"};
    const char* usual = std::getenv(kFromEnvironment);
    return {usual == nullptr ? "" : usual, kFromEnvironment};
  }

  Result<bool> signedBy(AgentConnection& agent) {
    sys::Fd connection = agent.share();
    if (!connection.valid() || ssh_set_agent_socket(session_, connection.get()) != SSH_OK)
      return internalError("ssh-agent cannot be used: " + std::string(ssh_get_error(session_)));
    static_cast<void>(connection.release());
    Result<bool> in = accepted(
        driveSsh(session_, SSH_AUTH_AGAIN, wait_, [&] { return ssh_userauth_agent(session_, nullptr); }));
    const Status ended = agent.finish();
    if (ended.code() == Code::kDeadlineExceeded)
      return Status(ended.code(), "waiting for ssh-agent to sign: " + ended.message() +
                                      " (--connect-timeout; ssh-add -c has somebody confirm it)");
    if (!ended.ok()) return ended;
    return in;
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
