// SPDX-License-Identifier: Apache-2.0
// Several real popdistds with one store in a real etcd: what clients, hosts and jobs notice when one ends.
#include <grpcpp/grpcpp.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "common/tls/certificates.h"
#include "tests/integration/daemon/leaders_fixture.h"

namespace pop::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Time = std::chrono::steady_clock;

constexpr seconds kFailover{10};  // the promise; the lease's five are in it

class LeadersTest : public SeveralDaemons {
 protected:
  void startHostOf(const std::string& controllers) {
    startProgram("h0", POP_BIN_DIR "/popdist-agent serve --listen 127.0.0.1:0 --spares 0 --tls " +
                           path("tls") + " --users " + path("users") + " --controller " + controllers +
                           " --name h0 --slots 4 --state " + path("h0.state"));
  }

  static std::string outputOf(const std::string& command) {
    std::string output;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe))
      output.append(bytes.data(), count);
    ::pclose(pipe);
    return output;
  }
  std::string popctl(const std::string& servers, const std::string& words) const {
    return outputOf("USER=alice " POP_BIN_DIR "/popctl --server " + servers + " --tls " + path("tls") +
                    " --timeout 5 " + words);
  }

  /// Tries until one of the servers takes a job. Its number.
  std::int64_t submitAt(std::size_t member, const std::string& script) {
    const auto stub = v1::Controller::NewStub(channelTo(member));
    std::int64_t id = 0;
    EXPECT_TRUE(waitUntil(
        [&] {
          grpc::ClientContext context;
          context.set_wait_for_ready(true);
          context.set_deadline(std::chrono::system_clock::now() + seconds(10));
          v1::SubmitReply reply;
          if (!stub->Submit(&context, shell(script), &reply).ok()) return false;
          id = reply.job().id();
          return true;
        },
        kTimeout))
        << logOf(name(member));
    return id;
  }

  /// Connects the clients of the first member, which has been away: gRPC connects only while a call waits for
  /// it.
  void connectAgain() {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + kTimeout);
    v1::AboutReply about;
    EXPECT_TRUE(client().About(&context, {}, &about).ok());
  }

  std::shared_ptr<grpc::Channel> channelTo(std::size_t member) const {
    const grpc::SslCredentialsOptions tls{.pem_root_certs = fileText(path("tls/ca.pem")),
                                          .pem_private_key = fileText(path("tls/user-alice-key.pem")),
                                          .pem_cert_chain = fileText(path("tls/user-alice.pem"))};
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // the time limit of connecting
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server(member), grpc::SslCredentials(tls), arguments);
  }

  /// With what the jobs' issuer signs, whatever it claims.
  void expectNobodyAt(std::size_t member) const {
    const tls::KeyPair issuer{fileText(path("tls/issuer.pem")), fileText(path("tls/issuer-key.pem"))};
    tls::KeyPair pair = tls::makeUserCertificate(issuer, "root", 1).value();
    pair.certificate_pem += issuer.certificate_pem;
    std::ofstream(path("stolen.pem")) << pair.certificate_pem;
    std::ofstream(path("stolen-key.pem")) << pair.key_pem;
    EXPECT_EQ(
        outputOf("curl --silent --output /dev/null --write-out '%{http_code}' --cacert " +
                 path("tls/ca.pem") + " --cert " + path("stolen.pem") + " --key " + path("stolen-key.pem") +
                 " https://localhost:" + std::to_string(http_ports_[member]) + "/v1/jobs"),
        "000");
    const auto channel = grpc::CreateChannel(
        server(member),
        grpc::SslCredentials({fileText(path("tls/ca.pem")), pair.key_pem, pair.certificate_pem}));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(10));
    v1::ListJobsReply jobs;
    EXPECT_FALSE(v1::Controller::NewStub(channel)->List(&context, {}, &jobs).ok());
  }
};

// The whole of a cluster's day: a follower serves like its leader, and takes over when that is killed. Jobs
// go on, and their output is whole.
TEST_F(LeadersTest, AFollowerPassesOnAndTakesOver) {
  startMember(0);
  startMember(1);
  startHostOf(server(1) + ',' + server(0));
  const std::int64_t long_job = submitAt(
      1, "i=0; while [ ! -e " + path("over") + " ]; do i=$((i+1)); echo $i; sleep 0.02; done; exit 5");
  EXPECT_EQ(waitForState(long_job, v1::JOB_RUNNING).state(), v1::JOB_RUNNING);
  EXPECT_THAT(popctl(server(1), "about"), HasSubstr(server(0)));
  EXPECT_THAT(outputOf("curl --silent --show-error --cacert " + path("tls/ca.pem") + " --cert " +
                       path("tls/user-alice.pem") + " --key " + path("tls/user-alice-key.pem") +
                       " https://localhost:" + std::to_string(http_ports_[1]) + "/metrics"),
              HasSubstr("popdist_jobs"));

  expectNobodyAt(1);

  kill(name(0), SIGKILL);
  const Time::time_point killed = Time::now();
  const std::int64_t next_job = submitAt(1, "echo next");
  const auto failover = std::chrono::duration_cast<std::chrono::milliseconds>(Time::now() - killed);
  RecordProperty("failover_ms", static_cast<int>(failover.count()));
  EXPECT_LE(failover, kFailover);
  EXPECT_GT(next_job, long_job);
  EXPECT_THAT(popctl(server(0) + ',' + server(1), "about"), HasSubstr(server(1)));

  startMember(0);
  connectAgain();
  EXPECT_EQ(waitForEnd(next_job).end(), v1::END_SUCCEEDED) << logOf("h0");
  // A leader that is told to end gives its place away at once.
  kill(name(1), SIGTERM);
  const Time::time_point stopped = Time::now();
  submitAt(0, "true");
  EXPECT_LE(Time::now() - stopped, seconds(4));
  connectAgain();
  std::ofstream(path("over")) << "";
  const v1::JobInfo ended = waitForEnd(long_job);
  EXPECT_EQ(ended.outcome().exit_code(), 5) << ended.reason();
  const std::string text = wholeLog(long_job).text;
  std::string lines;
  for (int i = 1; lines.size() < text.size(); ++i) lines += std::to_string(i) + '\n';
  EXPECT_EQ(text, lines);
  EXPECT_GT(lines.size(), 300u);
}

// Another leads meanwhile: it may not do anything any more.
TEST_F(LeadersTest, ALeaderThatWasStoppedEndsItself) {
  startMember(0);
  startMember(1);
  const pid_t old_leader = pidOf(name(0));
  ::kill(old_leader, SIGSTOP);
  submitAt(1, "true");
  ::kill(old_leader, SIGCONT);
  EXPECT_TRUE(waitUntil([&] { return statOf(old_leader).value_or(ProcessStat{.state = 'Z'}).state == 'Z'; },
                        kTimeout));
  EXPECT_THAT(logOf(name(0)), HasSubstr("may not lead any more"));
  startMember(0);
  EXPECT_THAT(popctl(server(0), "about"), HasSubstr(server(1)));
}

TEST_F(LeadersTest, WithoutEtcdNobodyLeadsAndClientsAreToldWhy) {
  startMember(0);
  startMember(1);
  submitAt(1, "true");
  const pid_t leader = pidOf(name(0));
  etcd_->kill();
  EXPECT_TRUE(waitUntil([&] { return statOf(leader).value_or(ProcessStat{.state = 'Z'}).state == 'Z'; },
                        Milliseconds(5000)))
      << "before its lease can end";
  std::string said;
  EXPECT_TRUE(waitUntil(
      [&] {
        said = popctl(server(1), "about");
        return said.find("no leader") != std::string::npos;
      },
      kTimeout))
      << said;
  EXPECT_THAT(said, HasSubstr("etcd"));
  EXPECT_THAT(
      outputOf("curl --silent --show-error --write-out ' %{http_code}' --cacert " + path("tls/ca.pem") +
               " https://localhost:" + std::to_string(http_ports_[1]) + "/v1/jobs"),
      AllOf(HasSubstr("no leader: etcd"), HasSubstr(" 503")));
  etcd_->start();
  EXPECT_GT(submitAt(1, "true"), 0);
}

TEST_F(LeadersTest, EtcdElsewhereNeedsTls) {
  const std::string alone = POP_BIN_DIR "/popdistd --etcd 192.0.2.1:2379 --state " + path("alone") +
                            " --tls " + path("tls") + " --advertise localhost";
  EXPECT_THAT(outputOf("timeout 20 " + alone), HasSubstr("--etcd-tls"));
  EXPECT_THAT(outputOf("timeout 20 " POP_BIN_DIR "/popdistd --etcd 127.0.0.1:2379 --state " + path("alone") +
                       " --tls " + path("tls") + " --advertise localhost"),
              HasSubstr("every user of this machine"));
}

TEST_F(LeadersTest, AnEtcdThatUsersCouldWriteIsNotUsed) {
  const std::string listen = " --listen " + place(ports_[0]) + " --http none --state " + path("alone");
  EXPECT_THAT(outputOf("timeout 20 " + popdistd("tls") + listen), HasSubstr("init-tls --etcd"));
  std::ofstream(path("etcd-tls/both.pem"))
      << fileText(path("etcd-tls/ca.pem")) << fileText(path("tls/ca.pem"));
  etcd_->kill();
  etcd_->setTls({.directory = path("etcd-tls"), .trusted = "both.pem"});
  etcd_->start();
  EXPECT_THAT(outputOf("timeout 20 " + popdistd() + listen), HasSubstr("lets in a host's certificate"));
}

}  // namespace
}  // namespace pop::testing
