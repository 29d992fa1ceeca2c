// SPDX-License-Identifier: Apache-2.0
// The certificates of the agent service, in PEM form: a certificate authority, which signs those of hosts
// (servers), of users (clients) and of popdistd's issuer, which signs those of jobs. The certificate itself
// says which it is, and whose; no directory is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::tls {

/// A user's certificate has the subject alternative name "popdist:user:NAME". A host's certificate has no
/// such name, and an agent service does not accept it from a client; with it the host joins its cluster.
inline constexpr std::string_view kUserUriPrefix = "popdist:user:";
inline constexpr std::string_view kJobUriPrefix = "popdist:job:";

/// The only purpose (extended key usage) of the issuer's certificate and of jobs'. OpenSSL, and Go for etcd,
/// hold a certificate to the purposes of its authorities.
inline constexpr const char* kForJobs = "2.25.212817435906173859036212684930186514751";
/// The issuer's common name, also of those whose certificates were once users'.
inline constexpr std::string_view kIssuerName = "popdistd jobs";

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

/// Signs certificates of hosts and users.
Result<KeyPair> makeAuthority(int valid_days);

/// The common name of an authority for etcd and popdistds alone, beside that of hosts and users.
inline constexpr std::string_view kEtcdAuthorityName = "popdist etcd";

Result<KeyPair> makeEtcdAuthority(int valid_days);

/// An authority below `authority` that signs certificates of jobs only: agent services accept them, and
/// whoever looks for a client's or a server's, as popdistd and etcd do, accepts nothing that it has signed.
Result<KeyPair> makeIssuer(const KeyPair& authority, int valid_days);

/// For a server that clients reach by any of `names`: DNS names and IP addresses. The host is a client, too,
/// of the daemon that it joins.
Result<KeyPair> makeHostCertificate(const KeyPair& authority, const std::vector<std::string>& names,
                                    int valid_days);

/// For the client `user`.
Result<KeyPair> makeUserCertificate(const KeyPair& authority, const std::string& user, int valid_days);

/// A job's runner, as agent services know it: "popdist:job:NUMBER:ID:USER:HOST+HOST".
struct JobName {
  std::int64_t number = 0;
  std::string id;                  ///< by which agents know the job
  std::string user;                ///< owner of the certificate
  std::vector<std::string> hosts;  ///< hosts that accept it
};

/// For the runner of `job`.
Result<KeyPair> makeJobCertificate(const KeyPair& issuer, const JobName& job, int valid_days);

/// The client of an agent service: a user, or a job's runner in the user's name.
struct Client {
  std::string user;
  std::optional<JobName> job;
};

/// Checks a user name: ok, or why it cannot be in a certificate.
Status checkUserName(std::string_view user);

/// Checks a host name: ok, or why it is neither a DNS name nor an IP address.
Status checkHostName(std::string_view name);

/// Returns the user named by a certificate's URIs (alternative names): exactly one must name a user, and none
/// a job.
Result<std::string> userFromUris(std::span<const std::string> uris);

/// Returns the job named by a certificate's URIs: exactly one must name a job, and none a user.
Result<JobName> jobFromUris(std::span<const std::string> uris);

}  // namespace pop::tls
