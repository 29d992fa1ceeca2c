// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_auth.h"

#include <libssh/libssh.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "poprun/bootstrap/ssh/libssh_drive.h"
#include "poprun/bootstrap/ssh/ssh_agent.h"

namespace pop {
namespace {

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

// Records every attempt: if all fail, the user must know what was tried.
class Attempts {
 public:
  Attempts(ssh_session session, const Wait& wait) : session_(session), wait_(wait) {}

  // True: the server accepts the key.
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
    // Signs at once: asking first whether the server accepts the key costs it a look-up and us a round trip.
    return accepted(driveSsh(session_, SSH_AUTH_AGAIN, wait_,
                             [&] { return ssh_userauth_publickey(session_, nullptr, key.get()); }));
  }

  // `named` as in SshHostConfig.
  Result<bool> tryAgent(const std::string& named) {
    const bool is_variable = named.starts_with('$');
    const std::string setting = is_variable ? named.substr(1) : "IdentityAgent";
    const char* value = is_variable ? std::getenv(setting.c_str()) : named.c_str();
    const std::string path = value == nullptr ? "" : value;
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
  Result<bool> signedBy(AgentConnection& agent) {
    sys::Fd connection = agent.share();
    if (!connection.valid() || ssh_set_agent_socket(session_, connection.get()) != SSH_OK)
      return internalError("ssh-agent cannot be used: " + std::string(ssh_get_error(session_)));
    static_cast<void>(connection.release());  // libssh closes it
    const Result<int> outcome =
        driveSsh(session_, SSH_AUTH_AGAIN, wait_, [&] { return ssh_userauth_agent(session_, nullptr); });
    const Status ended = agent.finish();
    // libssh reports a closed connection to the agent as an agent that does not sign.
    const bool was_agent = outcome.ok() && outcome.value() != SSH_AUTH_SUCCESS && !ended.ok();
    if (!was_agent) return accepted(outcome);
    return Status(ended).during(
        "waiting for ssh-agent to sign (does it ask for confirmation, as after ssh-add -c?)");
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
  // The agent may hold a key whose file is protected by a passphrase.
  if (!config.identities_only || attempts.someFileUnusable() || config.identity_files.empty()) {
    POP_ASSIGN_OR_RETURN(const bool by_agent, attempts.tryAgent(config.identity_agent));
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
