// SPDX-License-Identifier: Apache-2.0
// Finds out whose a client's certificate is. Included by this folder, and by who has an OpenSSL connection of
// its own.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/tls/certificates.h"

namespace pop::tls {

/// kPermissionDenied: there is no certificate (null), or it is a host's, or signed by the jobs' issuer.
Result<std::string> userOf(X509* certificate);

/// The same, and jobs: for agent services. Whose chain is as onlyForJobs() says, or good for clients.
Result<Client> clientOf(X509* certificate);

/// Its alternative names: DNS names, and addresses as numbers.
std::vector<std::string> hostNamesOf(X509* certificate);

/// True if jobs are the only purpose of the certificate: a job's, or the issuer's.
bool isForJobs(X509* certificate);

/// True if it names the jobs' issuer as its signer, also one whose certificates were once users'.
bool isOfIssuer(X509* certificate);
/// The same for a certificate in PEM form. Not readable: true.
bool isOfIssuer(std::string_view pem);

/// True if it is for a server and names no user.
bool isHosts(X509* certificate);

/// The peer's certificates in PEM form, its own first; empty: nothing.
std::string shownBy(const SSL* connection);

}  // namespace pop::tls
