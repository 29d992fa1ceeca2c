// SPDX-License-Identifier: Apache-2.0
// The three files of each side of mutual TLS, read and checked before anybody is refused in the middle of a
// handshake, where nobody says why.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::tls {

struct TlsPaths {
  std::string authority;    ///< ca.pem
  std::string certificate;  ///< ours
  std::string key;          ///< ours
};

/// What the certificate is to be used for.
enum class TlsRole : std::uint8_t { kServer, kClient, kAuthority };

/// The same as OpenSSL has it (tls_objects.h): reading keys and certificates is slow, so it is done once.
struct TlsObjects;

struct TlsFiles {
  std::string authority_pem;
  std::string certificate_pem;
  std::string key_pem;
  std::vector<std::string> warnings;  ///< "DIR/ca.pem expires within 30 days, on …"
  std::shared_ptr<const TlsObjects> objects;
};

/// What is in memory already; nothing is checked.
TlsFiles tlsFilesOf(std::string authority_pem, std::string certificate_pem, std::string key_pem);

/// The files' contents, or everything that is wrong with them, each naming its file: missing, a key that
/// others can read (as ssh, we refuse it), a server's authority that others can replace, not in PEM form, out
/// of its dates by this host's clock `now`, a key of another certificate, one that no authority has signed,
/// by way of those that follow it in its file, or not for this role.
Result<TlsFiles> loadTls(const TlsPaths& paths, TlsRole role, std::time_t now);

}  // namespace pop::tls
