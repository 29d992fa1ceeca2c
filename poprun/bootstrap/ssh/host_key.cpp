// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/host_key.h"

#include <libssh/libssh.h>

#include <memory>
#include <mutex>

#include "poprun/bootstrap/ssh/known_hosts.h"

namespace pop {
namespace {

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

// "ED25519 key SHA256:…"
std::string fingerprintOf(const Key& key) {
  unsigned char* hash = nullptr;
  std::size_t bytes = 0;
  std::string text = std::string(ssh_key_type_to_char(ssh_key_type(key.get()))) + " key ";
  if (ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &bytes) == 0) {
    char* fingerprint = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, bytes);
    if (fingerprint != nullptr) text += fingerprint;
    ssh_string_free_char(fingerprint);
    ssh_clean_pubkey_hash(&hash);
  }
  return text;
}

Status addToKnown(ssh_session session, const std::string& file) {
  // Many hosts at a time append to one file.
  static std::mutex one_writer;
  const std::scoped_lock lock(one_writer);
  if (ssh_session_update_known_hosts(session) == SSH_OK) return {};
  return unavailable("adding its key to " + file + ": " + ssh_get_error(session));
}

std::string scanCommand(const std::string& host, int port) {
  return "ssh-keyscan -H " + (port == 22 ? "" : "-p " + std::to_string(port) + ' ') + host;
}

std::string inShell(const std::string& name) {
  return name.front() == '[' ? '\'' + name + '\'' : name;
}

}  // namespace

Status checkHostKey(ssh_session_struct* session, const std::string& host, int port, HostKeyPolicy policy,
                    const std::vector<std::string>& known_hosts) {
  ssh_key received = nullptr;
  if (ssh_get_server_publickey(session, &received) != SSH_OK)
    return {Code::kPermissionDenied, "its host key cannot be read: " + std::string(ssh_get_error(session))};
  const Key key(received);
  const Result<KnownKey> known = findKnownKey(key.get(), host, port, known_hosts);
  if (!known.ok()) return Status(known.status()).during("looking for its host key");
  const std::string& file = known.value().file;
  const std::string fingerprint = fingerprintOf(key);
  const std::string add = scanCommand(host, port) + " >> " + file;
  switch (known.value().what) {
    case KnownAs::kThisKey:
      return {};
    case KnownAs::kRevoked:
      return {Code::kPermissionDenied, "its host key is revoked in " + file + ": the server has " +
                                           fingerprint + ": do not trust this host"};
    case KnownAs::kOtherKeys:
      if (policy == HostKeyPolicy::kOff) return {};
      return {Code::kPermissionDenied,
              "its host key is not the one in " + file + ": the server has " + fingerprint +
                  ": it was reinstalled, or is another machine. If you know why, run: ssh-keygen -R " +
                  inShell(knownNames(host, port).front()) + " -f " + file + "; " + add};
    case KnownAs::kUnknown:
      break;
  }
  if (policy == HostKeyPolicy::kStrict)
    return {Code::kPermissionDenied, "its host key is not in " + file + ": it has " + fingerprint +
                                         ". When you have checked this fingerprint, run: " + add};
  Status added = addToKnown(session, file);
  return policy == HostKeyPolicy::kOff ? Status() : added;
}

}  // namespace pop
