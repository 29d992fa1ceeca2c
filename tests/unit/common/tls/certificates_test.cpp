// SPDX-License-Identifier: Apache-2.0
#include "common/tls/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "common/os/helper_run.h"
#include "tests/testing/temp_dir.h"

namespace pop::tls {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The certificate's text by OpenSSL's own program.
std::string described(const std::string& certificate_pem) {
  const testing::TempDir directory;
  const std::string path = directory.path() + "/certificate.pem";
  std::ofstream(path) << certificate_pem;
  return os::outputOf({"openssl", "x509", "-in", path, "-noout", "-text"}, std::chrono::seconds(10)).value();
}

TEST(Certificates, OfAHostNameAllItsNamesAndNoUser) {
  const KeyPair authority = makeAuthority(10).value();
  const KeyPair host =
      makeHostCertificate(authority, {"h0", "h0.example", "10.0.0.1", "fd00::1"}, 10).value();
  EXPECT_THAT(
      described(host.certificate_pem),
      AllOf(HasSubstr("DNS:h0, DNS:h0.example, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1"),
            HasSubstr("TLS Web Server Authentication"), HasSubstr("CA:FALSE"), HasSubstr("ecdsa-with-SHA256"),
            HasSubstr("TLS Web Client Authentication"), ::testing::Not(HasSubstr("URI:"))));
}

TEST(Certificates, OfAUserNameTheUserAndAreForClientsOnly) {
  const KeyPair user = makeUserCertificate(makeAuthority(10).value(), "alice", 10).value();
  EXPECT_THAT(described(user.certificate_pem),
              AllOf(HasSubstr("URI:popdist:user:alice"), HasSubstr("TLS Web Client Authentication"),
                    ::testing::Not(HasSubstr("Server Authentication"))));
}

TEST(Certificates, OfAnAuthoritySignOnly) {
  EXPECT_THAT(described(makeAuthority(10).value().certificate_pem),
              AllOf(HasSubstr("CA:TRUE, pathlen:1"), HasSubstr("Certificate Sign, CRL Sign")));
}

// A certificate signed by an issuer, whatever it claims, is neither a client's nor a server's, also to
// OpenSSL's own program.
TEST(Certificates, OfAnIssuerAreForNeitherClientsNorServers) {
  const testing::TempDir directory;
  const auto write = [&](const std::string& name, const KeyPair& pair) {
    std::ofstream(directory / name) << pair.certificate_pem;
  };
  const KeyPair authority = makeAuthority(10).value();
  const KeyPair issuer = makeIssuer(authority, 10).value();
  write("ca.pem", authority);
  write("issuer.pem", issuer);
  write("user.pem", makeUserCertificate(issuer, "alice", 1).value());
  write("host.pem", makeHostCertificate(issuer, {"h0"}, 1).value());
  write("job.pem", makeJobCertificate(issuer, {7, "7-1", "alice", {"h0"}}, 1).value());
  const auto verifies = [&](const std::string& name, const std::string& purpose) {
    return os::outputOf({"openssl", "verify", "-CAfile", directory / "ca.pem", "-untrusted",
                         directory / "issuer.pem", "-purpose", purpose, directory / name},
                        std::chrono::seconds(10))
        .ok();
  };
  EXPECT_TRUE(verifies("job.pem", "any"));
  for (const char* name : {"user.pem", "host.pem", "job.pem"}) {
    EXPECT_FALSE(verifies(name, "sslclient")) << name;
    EXPECT_FALSE(verifies(name, "sslserver")) << name;
  }
}

TEST(Certificates, OfAJobNameItsNumberIdUserAndHosts) {
  const KeyPair issuer = makeIssuer(makeAuthority(10).value(), 10).value();
  const KeyPair job =
      makeJobCertificate(issuer, {12, "0af3", "alice", {"h0", "h1.example", "fd00::1"}}, 1).value();
  EXPECT_THAT(described(job.certificate_pem),
              HasSubstr("URI:popdist:job:12:0af3:alice:h0+h1.example+fd00::1"));
  EXPECT_FALSE(makeJobCertificate(issuer, {0, "0af3", "alice", {"h0"}}, 1).ok());
  EXPECT_FALSE(makeJobCertificate(issuer, {12, "a:b", "alice", {"h0"}}, 1).ok());
  EXPECT_FALSE(makeJobCertificate(issuer, {12, "0af3", "alice,URI:popdist:user:root", {"h0"}}, 1).ok());
  EXPECT_FALSE(makeJobCertificate(issuer, {12, "0af3", "alice", {"h0+h1"}}, 1).ok());
  EXPECT_FALSE(makeJobCertificate(issuer, {12, "0af3", "alice", {}}, 1).ok());
  EXPECT_FALSE(
      makeJobCertificate(issuer, {12, "0af3", "alice", std::vector<std::string>(40'000, "h0")}, 1).ok());
}

TEST(JobFromUris, RefusesNoneSeveralAndOdd) {
  const std::vector<std::string> one{"popdist:job:12:0af3:alice:h0+fd00::1"};
  const JobName job = jobFromUris(one).value();
  EXPECT_EQ(job.number, 12);
  EXPECT_EQ(job.id, "0af3");
  EXPECT_EQ(job.user, "alice");
  EXPECT_EQ(job.hosts, (std::vector<std::string>{"h0", "fd00::1"}));
  EXPECT_FALSE(userFromUris(one).ok()) << "a job is no user";
  for (const std::vector<std::string>& uris :
       std::vector<std::vector<std::string>>{{},
                                             {"popdist:user:alice"},
                                             {one[0], one[0]},
                                             {one[0], "popdist:user:alice"},
                                             {"popdist:job:12:0af3:alice"},
                                             {"popdist:job:12:0af3:alice:"},
                                             {"popdist:job:-1:0af3:alice:h0"},
                                             {"popdist:job:12::alice:h0"},
                                             {"popdist:job:12:0af3::h0"},
                                             {"popdist:job:x:0af3:alice:h0"}})
    EXPECT_EQ(jobFromUris(uris).code(), Code::kPermissionDenied) << (uris.empty() ? "" : uris[0]);
  EXPECT_FALSE(userFromUris(std::vector<std::string>{"popdist:user:alice", one[0]}).ok());
}

TEST(Certificates, NeverHaveTheSameSerialNumberOrKey) {
  const KeyPair authority = makeAuthority(10).value();
  const KeyPair one = makeUserCertificate(authority, "a", 10).value();
  const KeyPair other = makeUserCertificate(authority, "a", 10).value();
  EXPECT_NE(one.key_pem, other.key_pem);
  EXPECT_NE(one.certificate_pem, other.certificate_pem);
}

TEST(Certificates, RefuseNamesThatCouldMeanSomethingElse) {
  const KeyPair authority = makeAuthority(10).value();
  for (const char* name : {"", "a,DNS:evil", "a b", "*", "-a", "a..b", "a/b"}) {
    EXPECT_FALSE(makeHostCertificate(authority, {name}, 10).ok()) << name;
  }
  for (const char* name : {"", "alice,URI:popdist:user:root", "a b", "../x", "-a", "a/b"}) {
    EXPECT_FALSE(makeUserCertificate(authority, name, 10).ok()) << name;
  }
  EXPECT_TRUE(makeUserCertificate(authority, "alice.b@example-1_x", 10).ok());
}

TEST(UserFromUris, IsTheOneThatIsNamed) {
  const std::vector<std::string> one{"https://example", "popdist:user:alice"};
  EXPECT_EQ(userFromUris(one).value(), "alice");
}

TEST(UserFromUris, RefusesNoneSeveralAndOdd) {
  const std::vector<std::vector<std::string>> refused{
      {}, {"https://x"}, {"popdist:user:a", "popdist:user:b"}, {"popdist:user:"}, {"popdist:user:a b"}};
  for (const auto& uris : refused) EXPECT_FALSE(userFromUris(uris).ok());
  EXPECT_EQ(userFromUris(refused[0]).code(), Code::kPermissionDenied);
}

}  // namespace
}  // namespace pop::tls
