// SPDX-License-Identifier: Apache-2.0
// What known-hosts files say of a host and its key. libssh reads the same lines, but skips those with a
// marker
// ("@revoked") and with tabs, takes "*,!h7" for h7, gives up at a line that it cannot read, and lets its own
// configuration decide what is known.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

struct ssh_key_struct;

namespace pop {

enum class KnownAs {
  kUnknown,    ///< no file has a key of this host
  kThisKey,    ///< one has this key
  kOtherKeys,  ///< those that have one have others
  kRevoked,    ///< one says not to believe it
};

struct KnownKey {
  KnownAs what = KnownAs::kUnknown;
  std::string file;  ///< that says so; of an unknown one the first
};

/// How files name a host: in lower case, with another port than 22 as "[host]:port".
std::string knownName(const std::string& host, int port);

/// `name`: as knownName() has it. A file that does not exist says nothing; of one that cannot be read, the
/// error.
Result<KnownKey> findKnownKey(ssh_key_struct* key, const std::string& name,
                              const std::vector<std::string>& files);

/// The types of the keys that the files know of the host, in their order, as "ssh-ed25519"; each once.
std::vector<std::string> knownKeyTypes(const std::string& name, const std::vector<std::string>& files);

}  // namespace pop
