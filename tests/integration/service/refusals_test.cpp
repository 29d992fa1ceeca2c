// SPDX-License-Identifier: Apache-2.0
// Clients that the agent service refuses, and the messages that they read.
#include "tests/integration/service/service_fixture.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// s_client's message about a server that ends the handshake, and says why.
constexpr const char* kRefused = "SSL alert number";

class ServiceRefuses : public ServiceTest {
 protected:
  ServiceRefuses() : ServiceTest(1) {}

  // s_client's output when it connects with `options`; the certificate's pair is alice's. `protocol`: by
  // ALPN, empty: none.
  std::string dialled(const std::string& options, const std::string& protocol = "popdist-agent/1") const {
    const std::string pair = " -cert " + tlsOf("alice") + "/user-alice.pem -key " + tlsOf("alice") +
                             "/user-alice-key.pem -CAfile " + tls() + "/ca.pem ";
    return output("openssl s_client -connect " + hosts.address(0) + ":" + std::to_string(kServicePort) +
                  pair + options + (protocol.empty() ? "" : " -alpn " + protocol) + " </dev/null 2>&1");
  }
  static std::string output(const std::string& command) {
    std::string text;
    FILE* const pipe = ::popen(command.c_str(), "r");
    for (int next = 0; (next = std::fgetc(pipe)) != EOF;) text += static_cast<char>(next);
    ::pclose(pipe);
    return text;
  }
  // The error of a service on the host that must not start.
  std::string startError(const std::string& arguments, int host = 0) const {
    const TestHosts::Output output =
        hosts.run(host, "timeout 10 " POP_BIN_DIR "/popdist-agent serve " + arguments);
    EXPECT_EQ(output.exit_code, 1) << output.text;
    return output.text;
  }
  // The one line that alice's job, which is refused, writes; nothing has run.
  std::string refusalOf(const PoprunSetup& setup) const {
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 125);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(linesOf(said(outcome.err)).size(), 1U) << outcome.err;
    EXPECT_EQ(leftOfJobs(), "");
    return said(outcome.err);
  }
  std::string where() const {
    return "the agent service at " + hosts.address(0) + ", port " + std::to_string(kServicePort) + ": ";
  }
};

TEST_F(ServiceRefuses, WhoShowsNoCertificate) {
  serve(0);
  EXPECT_THAT(refusalOf(jobOf("", {"id", "-un"})),
              HasSubstr(where() + "the connection was closed: it probably "
                                  "wants TLS, so give --agent-tls DIR"));
}

TEST_F(ServiceRefuses, AUserOfAnotherAuthority) {
  serve(0);
  makeCertificates(tls() + "2");
  giveTo("alice", tls() + "2");
  EXPECT_THAT(refusalOf(jobOf("alice", {"id"})),
              HasSubstr(where() + "its certificate is not signed by the ca.pem of --agent-tls"));
  // A client that does not care with whom it speaks fares no better.
  EXPECT_THAT(output("sleep 1 | openssl s_client -quiet -alpn popdist-agent/1 -connect " + hosts.address(0) +
                     ":" + std::to_string(kServicePort) + " -cert " + tlsOf("alice") +
                     "/user-alice.pem -key " + tlsOf("alice") + "/user-alice-key.pem 2>&1"),
              HasSubstr(kRefused));
}

TEST_F(ServiceRefuses, AHostsCertificateAsAUsers) {
  writeUsers(0, "h0 = nobody\n");  // even where a user has the host's name
  serve(0);
  EXPECT_THAT(dialled("-tls1_2"), Not(HasSubstr(kRefused)));
  const std::string directory = tlsOf("alice");
  for (const char* end : {".pem", "-key.pem"})
    std::filesystem::copy_file(tls() + "/host-h0" + end, directory + "/user-alice" + end,
                               std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(run(jobOf("alice", {"id"})).err, HasSubstr("is not a user's certificate"));
  EXPECT_THAT(dialled("-tls1_2"), HasSubstr(kRefused));
}

TEST_F(ServiceRefuses, TlsThatIsTooOld) {
  serve(0);
  EXPECT_THAT(dialled("-tls1_1 -cipher DEFAULT@SECLEVEL=0"), HasSubstr(kRefused));
  EXPECT_THAT(dialled("-tls1_2"), AllOf(HasSubstr("Verify return code: 0 (ok)"), Not(HasSubstr(kRefused))));
  EXPECT_THAT(dialled("-tls1_3"), AllOf(HasSubstr("Verify return code: 0 (ok)"), Not(HasSubstr(kRefused))));
}

TEST_F(ServiceRefuses, WhatSpeaksAnotherProtocol) {
  serve(0);
  EXPECT_THAT(dialled("", "h2"), HasSubstr("alert no application protocol"));
  dialled("", "");
  EXPECT_TRUE(waitForLog(0, "TLS has failed: no application protocol")) << logOf(0);
}

// A host of the same authority is not enough.
TEST_F(ServiceRefuses, ToTakeAnotherServiceForTheAgents) {
  const std::string port = std::to_string(kServicePort);
  hosts.run(0, "openssl s_server -www -accept " + port +
                   " -cert /tmp/tls/host.pem -key /tmp/tls/host-key.pem >/dev/null 2>&1 </dev/null &");
  ASSERT_TRUE(waitUntil([&] { return !hosts.run(0, "ss -Hltn sport = " + port).text.empty(); }, kTimeout));
  EXPECT_THAT(run(jobOf("alice", {"id"})).err,
              HasSubstr(where() + "the port is not that of an agent service"));
}

TEST_F(ServiceRefuses, WhoIsNotInTheUsersFile) {
  serve(0);
  EXPECT_THAT(refusalOf(jobOf("eve", {"id"})), HasSubstr(where() + "'eve' is not in the users file"));
}

TEST_F(ServiceRefuses, ToListenBeyondThisHostWithoutTls) {
  EXPECT_THAT(startError("--listen 0.0.0.0:7571"), HasSubstr("without TLS anybody who can reach 0.0.0.0"));
  EXPECT_THAT(startError("--listen [::]:7571"), HasSubstr("without TLS anybody who can reach ::"));
  EXPECT_THAT(startError("--listen 127.0.0.1:7571"),
              HasSubstr("every user of this host could run jobs as root"));
  EXPECT_THAT(startError("--listen 127.0.0.1"), HasSubstr("is not ADDRESS:PORT"));
}

TEST_F(ServiceRefuses, ToStartWithFilesThatAreWrong) {
  EXPECT_THAT(startError("--tls /tmp/tls"), HasSubstr("--users FILE"));
  EXPECT_THAT(
      startError("--tls /tmp/nowhere --users /tmp/users"),
      AllOf(
          HasSubstr("neither /tmp/nowhere/host-h0.pem (after `uname -n`) nor /tmp/nowhere/host.pem is there"),
          HasSubstr("init-tls --host h0")));
  writeUsers(0, "alice = nosuchuser\n");
  EXPECT_THAT(startError("--tls /tmp/tls --users /tmp/users"), HasSubstr("nosuchuser"));
}

TEST_F(ServiceRefuses, APortThatIsTaken) {
  serve(0);
  EXPECT_THAT(
      startError("--listen 0.0.0.0:7571 --tls /tmp/tls --users /tmp/users"),
      AllOf(HasSubstr("cannot listen at 0.0.0.0:7571"), HasSubstr("does another popdist-agent serve run")));
  EXPECT_THAT(logOf(0), HasSubstr("listening at 0.0.0.0, port 7571\n"));
}

TEST_F(ServiceRefuses, NothingSilently) {
  EXPECT_THAT(refusalOf(jobOf("alice", {"id"})),
              HasSubstr(where() + "connection refused: does popdist-agent serve run there"));
  PoprunSetup unknown = jobOf("alice", {"id"});
  unknown.options[3] = "nosuch.invalid";
  EXPECT_THAT(refusalOf(unknown), HasSubstr("nosuch.invalid, port 7571: its name is unknown"));
  serve(0);
  hosts.linkDown(0);
  PoprunSetup silent = jobOf("alice", {"--connect-timeout", "1", "id"});
  EXPECT_THAT(refusalOf(silent), HasSubstr(where() + "no answer within 1 s (--connect-timeout)"));
}

// A name with an address without a listener, and one that there is no way to.
TEST_F(ServiceRefuses, ToHideTheFirstCauseBehindTheLast) {
  const TestHosts::Output asked =
      hosts.run(0,
                "printf '127.0.0.1 two\\n192.0.2.1 two\\n' > /tmp/hosts && mount --bind /tmp/hosts "
                "/etc/hosts && " POP_BIN_DIR "/popdist-agent health --address two:" +
                    std::to_string(kServicePort) + " 2>&1");
  EXPECT_THAT(asked.text, HasSubstr("connection refused"));
}

TEST_F(ServiceRefuses, ToPassForAnotherHost) {
  ASSERT_EQ(std::system(
                (POP_BIN_DIR "/popdist-agent init-tls --dir " + tls() + " --host other >/dev/null").c_str()),
            0);
  for (const char* end : {".pem", "-key.pem"})
    std::filesystem::copy_file(tls() + "/host-other" + end, hosts.tmp(0) + "/tls/host" + end,
                               std::filesystem::copy_options::overwrite_existing);
  serve(0);
  EXPECT_THAT(refusalOf(jobOf("alice", {"id"})), HasSubstr(where() + "its certificate is not for this name"));
}

}  // namespace
}  // namespace pop::testing
