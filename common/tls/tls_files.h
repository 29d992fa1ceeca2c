// SPDX-License-Identifier: Apache-2.0
// The three files of each side of mutual TLS, read and checked at the start: an error during a handshake
// would not tell the reason.
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

/// The role of the certificate.
enum class TlsRole : std::uint8_t { kServer, kClient, kAuthority };

/// The same as OpenSSL's objects (tls_objects.h): reading keys and certificates is slow, so it is done once.
struct TlsObjects;

struct TlsFiles {
  std::string authority_pem;
  std::string certificate_pem;
  std::string key_pem;
  std::vector<std::string> warnings;  ///< "DIR/ca.pem expires within 30 days, on …"
  std::shared_ptr<const TlsObjects> objects;
};

/// For files that are in memory already; checks nothing.
TlsFiles tlsFilesOf(std::string authority_pem, std::string certificate_pem, std::string key_pem);

/// Names and addresses of the host whose certificate it is.
std::vector<std::string> hostNamesIn(const TlsFiles& files);

/// True if our certificate is that of an issuer, for jobs only. One of an older init-tls was for users.
bool isIssuer(const TlsFiles& files);

/// True if a client, too, may show our certificate: a host's was once for serving only.
bool isForClients(const TlsFiles& files);

/// The common name of the first authority; empty: it has none.
std::string authorityName(const TlsFiles& files);

/// True if the two share an authority.
bool haveOneAuthority(const TlsFiles& one, const TlsFiles& other);

/// Returns the files' contents, or every mistake, each naming its file:
/// - a file is missing or not in PEM form;
/// - other users can read the key (refused, as ssh does), or replace a server's authority;
/// - a certificate is out of its dates by this host's clock `now`, or not for this role;
/// - the key belongs to another certificate;
/// - no authority has signed the certificate, not even through those that follow it in its file.
Result<TlsFiles> loadTls(const TlsPaths& paths, TlsRole role, std::time_t now);

}  // namespace pop::tls
