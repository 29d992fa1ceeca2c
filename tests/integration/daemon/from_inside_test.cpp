// SPDX-License-Identifier: Apache-2.0
// What code in a job can do with what its runner has, which is of the same user, and with what the jobs'
// issuer could sign.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "common/tls/certificates.h"
#include "proto/popdist/v1/host.grpc.pb.h"
#include "tests/integration/daemon/daemon_fixture.h"
#include "tests/testing/free_port.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Tries what a process may do to each of its ancestors, up to the agent service, and to itself.
constexpr const char* kAttack = R"(
pid=$$
while [ "$pid" -gt 1 ]; do
  name=$(cat /proc/$pid/comm)
  for file in mem environ maps auxv stack; do
    (exec 3</proc/$pid/$file) 2>/dev/null && echo "opens $file of $name"
  done
  ls /proc/$pid/fd/ >/dev/null 2>&1 && echo "lists descriptors of $name"
  [ -r /proc/$pid/fd/0 ] && echo "reads descriptor 0 of $name"
  grep -q "PRIVATE KEY" /proc/$pid/cmdline && echo "key in the command line of $name"
  echo "seen $name"
  pid=$(sed -n 's/^PPid:\t//p' /proc/$pid/status)
done
env | grep "PRIVATE KEY" && echo "key in the environment"
echo done
)";

class FromInside : public DaemonTest {
 protected:
  tls::KeyPair pairAt(const std::string& name) const {
    return {fileText(path("tls/" + name + ".pem")), fileText(path("tls/" + name + "-key.pem"))};
  }

  // An issuer whose certificates were users', as it once was.
  tls::KeyPair olderIssuer() const {
    std::ofstream(path("extensions")) << "basicConstraints=critical,CA:TRUE,pathlen:0\n"
                                         "keyUsage=critical,keyCertSign\nextendedKeyUsage=clientAuth\n";
    const std::string ca = path("tls/ca");
    const std::string made = path("older");
    EXPECT_EQ(
        std::system(("(openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout " + made +
                     "-key.pem -out " + made + ".csr -subj '/CN=popdistd jobs' && openssl x509 -req -in " +
                     made + ".csr -CA " + ca + ".pem -CAkey " + ca + "-key.pem -CAcreateserial -extfile " +
                     path("extensions") + " -out " + made + ".pem) >/dev/null 2>&1")
                        .c_str()),
        0);
    return {fileText(made + ".pem"), fileText(made + "-key.pem")};
  }

  std::shared_ptr<grpc::Channel> channelWith(const tls::KeyPair& pair, int at) const {
    return grpc::CreateChannel("localhost:" + std::to_string(at),
                               grpc::SslCredentials({.pem_root_certs = fileText(path("tls/ca.pem")),
                                                     .pem_private_key = pair.key_pem,
                                                     .pem_cert_chain = pair.certificate_pem}));
  }

  static void setDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }

  // That neither a user nor a host is seen in it, by gRPC and HTTP.
  void expectNobody(const tls::KeyPair& pair, const std::string& what) {
    const std::shared_ptr<grpc::Channel> channel = channelWith(pair, port());
    grpc::ClientContext list;
    setDeadline(list);
    v1::ListJobsReply jobs;
    EXPECT_FALSE(v1::Controller::NewStub(channel)->List(&list, {}, &jobs).ok()) << what;
    grpc::ClientContext join;
    setDeadline(join);
    const auto stream = v1::Hosts::NewStub(channel)->Join(&join);
    v1::HostReport report;
    report.mutable_joins()->set_name("h0");
    stream->Write(report);
    v1::HostOrder order;
    EXPECT_FALSE(stream->Read(&order)) << what << order.has_welcome();
    join.TryCancel();
    EXPECT_FALSE(stream->Finish().ok());
    std::ofstream(path("stolen.pem")) << pair.certificate_pem;
    std::ofstream(path("stolen-key.pem")) << pair.key_pem;
    EXPECT_THAT(overHttp("stolen"), Not(HasSubstr("200"))) << what;
  }

  std::string overHttp(const std::string& pair) const {
    std::string code;
    FILE* const pipe =
        ::popen(("curl --silent --output /dev/null --write-out '%{http_code}' --cacert " +
                 path("tls/ca.pem") + " --cert " + path(pair + ".pem") + " --key " + path(pair + "-key.pem") +
                 " https://localhost:" + std::to_string(http_port_) + "/v1/jobs")
                    .c_str(),
                "r");
    for (int next = 0; (next = std::fgetc(pipe)) != EOF;) code += static_cast<char>(next);
    ::pclose(pipe);
    return code;
  }

  const int http_port_ = freePort();
};

TEST_F(FromInside, WhateverTheIssuerSignsIsNobodyToPopdistd) {
  startDaemon("127.0.0.1:" + std::to_string(http_port_));
  EXPECT_THAT(overHttp("tls/user-alice"), HasSubstr("200"));
  for (const tls::KeyPair& issuer : {pairAt("issuer"), olderIssuer()}) {
    const auto chained = [&issuer](Result<tls::KeyPair> pair) {
      return tls::KeyPair{pair.value().certificate_pem + issuer.certificate_pem, pair.value().key_pem};
    };
    expectNobody(chained(tls::makeJobCertificate(issuer, {1, "a1", "alice", {"h0"}}, 1)), "a job's");
    expectNobody(chained(tls::makeUserCertificate(issuer, "root", 1)), "one that says it is a user's");
    expectNobody(chained(tls::makeHostCertificate(issuer, {"h0"}, 1)), "one that says it is a host's");
  }
}

TEST_F(FromInside, AJobReadsNothingOfItsRunner) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell(kAttack));
  EXPECT_EQ(waitForEnd(id).end(), v1::END_SUCCEEDED);
  const std::string seen = wholeLog(id).text;
  EXPECT_THAT(seen, AllOf(HasSubstr("seen pop-keeper"), HasSubstr("seen popdist-runner"), HasSubstr("done")));
  for (const char* holder : {"pop-keeper", "popdist-runner", "popdist-agent"}) {
    for (const char* what :
         {"opens mem of ", "opens environ of ", "opens maps of ", "opens auxv of ", "lists descriptors of ",
          "reads descriptor 0 of ", "key in the command line of "})
      EXPECT_THAT(seen, Not(HasSubstr(what + std::string(holder))));
  }
  EXPECT_THAT(seen, AllOf(HasSubstr("opens mem of sh"), Not(HasSubstr("key in the environment"))))
      << "it can be done";
}

}  // namespace
}  // namespace pop::testing
