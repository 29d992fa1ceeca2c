// SPDX-License-Identifier: Apache-2.0
// The user's certificate, from the directory that init-tls makes.
#include <cstdlib>
#include <optional>

#include "tests/integration/popctl/popctl_fixture.h"
#include "tests/testing/file_text.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class PopctlTls : public ::testing::Test {
 protected:
  PopctlTls() {
    const std::string command = POP_BIN_DIR "/popdist-agent init-tls --dir " + tls() +
                                " --host localhost+127.0.0.1 --user alice >/dev/null";
    POP_CHECK(std::system(command.c_str()) == 0);
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = fileText(tls() + "/ca.pem");
    options.pem_key_cert_pairs.push_back(
        {fileText(tls() + "/host-localhost-key.pem"), fileText(tls() + "/host-localhost.pem")});
    daemon_.emplace(grpc::SslServerCredentials(options));
  }

  std::string tls() const { return directory_.path() + "/tls"; }
  Outcome popctl(const std::vector<std::string>& words) const {
    return run({.options = words,
                .environment = {{"HOME", directory_.path()},
                                {"USER", "alice"},
                                {"POPDIST_TLS", ""},
                                {"POPDIST_SERVER", "localhost:" + std::to_string(daemon_->port())}},
                .program = POP_BIN_DIR "/popctl"});
  }

 private:
  const TempDir directory_;
  std::optional<FakeDaemon> daemon_;
};

TEST_F(PopctlTls, ShowsWhoTheCallerIs) {
  const Outcome about = popctl({"about", "--tls", tls()});
  EXPECT_EQ(about.exit_code, 0) << about.err;
  EXPECT_THAT(about.out, HasSubstr("alice"));
}

TEST_F(PopctlTls, WithoutItTheServerCannotBeReached) {
  const Outcome about = popctl({"about"});
  EXPECT_EQ(about.exit_code, 4);
  EXPECT_THAT(about.err, HasSubstr("--tls"));
}

TEST_F(PopctlTls, MistakesNameTheOption) {
  const Outcome about = popctl({"about", "--tls", "/nowhere"});
  EXPECT_NE(about.exit_code, 0);
  EXPECT_THAT(about.err, HasSubstr("--tls /nowhere"));
}

}  // namespace
}  // namespace pop::testing
