// SPDX-License-Identifier: Apache-2.0
// What known-hosts files say of a server's key. libssh reads the same lines, but skips those with a marker
// ("@revoked"), gives up at one that it cannot read, and lets its own configuration decide what is known.
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

/// `name`: the host's, "[host]:port" for another port than 22. A file that does not exist says nothing; of
/// one that cannot be read, the error.
Result<KnownKey> findKnownKey(ssh_key_struct* key, const std::string& name,
                              const std::vector<std::string>& files);

}  // namespace pop
