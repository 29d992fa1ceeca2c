// SPDX-License-Identifier: Apache-2.0
// Entries of known-hosts files for a host and its key. libssh reads the same lines, but skips those with a
// marker ("@revoked") and with tabs, takes "*,!h7" for h7, gives up at a line that it cannot read, and lets
// its own configuration decide what is known.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

struct ssh_key_struct;

namespace pop {

enum class KnownAs {
  kUnknown,    ///< no file has a key for this host
  kThisKey,    ///< a file has this key
  kOtherKeys,  ///< files have only other keys for this host
  kRevoked,    ///< a file has this key as revoked
};

struct KnownKey {
  KnownAs what = KnownAs::kUnknown;
  std::string file;  ///< the file that decided; the first file if the host is unknown
};

/// The names of a host in these files: in lower case, with another port than 22 as "[host]:port", and then
/// without, which counts where nothing is known of the first.
std::vector<std::string> knownNames(const std::string& host, int port);

/// A file that does not exist counts as empty; one that cannot be read is an error.
Result<KnownKey> findKnownKey(ssh_key_struct* key, const std::string& host, int port,
                              const std::vector<std::string>& files);

/// The types of the host's keys in these files, such as "ssh-ed25519", in their order and without duplicates.
std::vector<std::string> knownKeyTypes(const std::string& host, int port,
                                       const std::vector<std::string>& files);

/// The file in which a line "@cert-authority" is about the host; empty: there is none.
std::string authorityFile(const std::string& host, int port, const std::vector<std::string>& files);

}  // namespace pop
