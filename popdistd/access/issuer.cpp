// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/issuer.h"

#include <unistd.h>

#include <ctime>
#include <utility>

#include "common/tls/certificates.h"
#include "common/tls/tls_files.h"

namespace pop::popdistd {
namespace {

constexpr int kValidDays = 1;

}  // namespace

Result<Issuer> issuerFrom(const std::string& directory) {
  const std::string certificate = directory + "/issuer.pem";
  if (::access(certificate.c_str(), F_OK) != 0) return Issuer();
  POP_ASSIGN_OR_RETURN(tls::TlsFiles files,
                       tls::loadTls({directory + "/ca.pem", certificate, directory + "/issuer-key.pem"},
                                    tls::TlsRole::kAuthority, std::time(nullptr)));
  if (!tls::isIssuer(files))
    return failedPrecondition(
        certificate +
        " was made by an older init-tls: what it signs would count as a user's. Make a new one "
        "with popdist-agent init-tls --overwrite --issuer");
  const tls::KeyPair issuer{std::move(files.certificate_pem), std::move(files.key_pem)};
  return Issuer([issuer, authority = std::move(files.authority_pem)](
                    const ::popdist::v1::JobRecord& job) -> Result<::popdist::v1::JobCredentials> {
    const ::popdist::v1::JobInfo& info = job.info();
    const tls::JobName name{
        info.id(), job.agent_job_id(), info.user(), {info.hosts().begin(), info.hosts().end()}};
    POP_ASSIGN_OR_RETURN(const tls::KeyPair pair, tls::makeJobCertificate(issuer, name, kValidDays));
    ::popdist::v1::JobCredentials credentials;
    credentials.set_authority_pem(authority);
    credentials.set_certificate_pem(pair.certificate_pem + issuer.certificate_pem);
    credentials.set_key_pem(pair.key_pem);
    return credentials;
  });
}

}  // namespace pop::popdistd
