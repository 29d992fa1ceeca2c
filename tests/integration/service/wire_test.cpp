// SPDX-License-Identifier: Apache-2.0
// The agent service as clients see it that are not poprun: with tokens, wrong numbers, another version.
#include <algorithm>
#include <array>
#include <csignal>
#include <optional>

#include "common/agent_service/service_call.h"
#include "common/contract/frame.h"
#include "common/contract/version.h"
#include "common/os/epoll_loop.h"
#include "common/tls/tls_context.h"
#include "common/wire/agent_codec.h"
#include "tests/integration/service/service_fixture.h"
#include "tests/testing/run_until.h"
#include "tests/testing/tracer.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class ServiceWire : public ServiceTest {
 protected:
  ServiceWire() : ServiceTest(1) {}

  // One Run call of a user, and what comes of it.
  struct Client {
    std::optional<wire::v1::Welcome> welcome;
    int started = 0;  // instances
    bool stopped = false;
    std::optional<Status> ended;
    std::unique_ptr<wire::AgentCall> call;
  };

  wire::ServiceAddress serviceAsSeenBy(const std::string& user) const {
    return {.host = hosts.address(0),
            .port = kServicePort,
            .tls = tls::TlsContext::make(filesOf(user), tls::TlsRole::kClient).value()};
  }

  wire::ServiceAddress serviceAsSeenBy(const tls::KeyPair& issuer, const tls::KeyPair& pair) const {
    return {.host = hosts.address(0),
            .port = kServicePort,
            .tls = tls::TlsContext::make(
                       tls::tlsFilesOf(fileText(tls() + "/ca.pem"),
                                       pair.certificate_pem + issuer.certificate_pem, pair.key_pem),
                       tls::TlsRole::kClient)
                       .value()};
  }

  std::unique_ptr<Client> start(const std::string& job_id,
                                std::uint32_t protocol = contract::kAgentProtocol) {
    return start(job_id, serviceAsSeenBy("alice"), protocol);
  }

  // A start in poprun's order: the question what the host is like goes right behind the hello.
  std::unique_ptr<Client> start(const std::string& job_id, const wire::ServiceAddress& service,
                                std::uint32_t protocol = contract::kAgentProtocol) {
    auto client = std::make_unique<Client>();
    Client& made = *client;
    made.call = std::make_unique<wire::ServiceCall>(
        loop_, service,
        wire::AgentCall::Events{.report =
                                    [&made](const wire::v1::Report& report) {
                                      if (report.has_welcome()) made.welcome = report.welcome();
                                      if (report.has_started()) ++made.started;
                                      if (report.has_stopped()) made.stopped = true;
                                    },
                                .ended = [&made](const Status& why) { made.ended = why; }});
    wire::v1::Command command;
    wire::v1::Hello& hello = *command.mutable_hello();
    hello.set_protocol(protocol);
    hello.set_version("0.0.test");
    hello.set_job_id(job_id);
    hello.set_num_instances(1);
    hello.set_silence_ms(60000);
    made.call->send(std::move(command));
    made.call->send(wire::encode(NumberedCommand{1, DescribeCommand{}}));
    runUntil(loop_, [&made] { return made.welcome || made.ended; });
    return client;
  }

  static wire::v1::Command runOf(std::uint64_t number, int instances) {
    JobSlice slice{.job_id = "job1", .num_instances = instances};
    slice.programs.push_back({.command = {"/bin/sleep", "1000"}, .num_instances = instances});
    slice.hosts = std::make_shared<const std::vector<HostInstances>>(
        std::vector<HostInstances>{{"here", 0, instances}});
    for (int instance = 0; instance < instances; ++instance) {
      slice.instances.emplace_back().env.instance_index = instance;
    }
    return wire::encode(NumberedCommand{number, RunCommand{std::move(slice)}});
  }

  Status ask(const std::string& user, const wire::v1::ServiceRequest& request) {
    std::optional<Status> outcome;
    const wire::ServiceQuestion question(
        loop_, serviceAsSeenBy(user), request, kTimeout,
        [&outcome](const Status& how, const std::string&) { outcome = how; });
    runUntil(loop_, [&outcome] { return outcome.has_value(); });
    return *outcome;
  }

  Status endJob(const std::string& user, const std::string& job_id, const std::string& token) {
    wire::v1::ServiceRequest request;
    request.mutable_end_job()->set_job_id(job_id);
    request.mutable_end_job()->set_token(token);
    return ask(user, request);
  }

  Status health(const std::string& user) {
    wire::v1::ServiceRequest request;
    request.mutable_check_health();
    return ask(user, request);
  }

  // That the service has ever had.
  std::size_t mostMemoryKiB() const {
    for (const pid_t pid : hosts.processesOn(0)) {
      if (commandOf(pid).find("serve") == std::string::npos) continue;
      const std::string status = fileText("/proc/" + std::to_string(pid) + "/status");
      return std::stoul(status.substr(status.find("VmHWM:") + 6));
    }
    ADD_FAILURE() << "no service runs";
    return 0;
  }

  os::EpollLoop loop_;
};

TEST_F(ServiceWire, AnswersHealthChecks) {
  serve(0);
  EXPECT_TRUE(health("alice").ok());
  EXPECT_TRUE(health("eve").ok()) << "who has a certificate may ask, even one who may run nothing";
  makeCertificates(tls() + "2");
  giveTo("eve", tls() + "2");
  EXPECT_EQ(health("eve").code(), Code::kUnavailable);
}

TEST_F(ServiceWire, IsAskedForItsHealthByACommand) {
  const std::string command = POP_BIN_DIR "/popdist-agent health --address " + hosts.address(0) + ":" +
                              std::to_string(kServicePort) + " --tls ";
  EXPECT_NE(std::system((command + tlsOf("alice") + " 2>/dev/null").c_str()), 0) << "nobody listens";
  serve(0);
  EXPECT_EQ(std::system((command + tlsOf("alice")).c_str()), 0);
  EXPECT_NE(std::system((command + tls() + "/nowhere 2>/dev/null").c_str()), 0);
}

TEST_F(ServiceWire, NamesItsOwnOptionToWhoAsksWithoutTls) {
  serve(0);
  FILE* const asked = ::popen(("exec " POP_BIN_DIR "/popdist-agent health 2>&1 --address " +
                               hosts.address(0) + ":" + std::to_string(kServicePort))
                                  .c_str(),
                              "r");
  std::string text;
  for (int next = 0; (next = std::fgetc(asked)) != EOF;) text += static_cast<char>(next);
  EXPECT_NE(::pclose(asked), 0);
  EXPECT_THAT(text, HasSubstr("wants TLS, so give --tls DIR"));
}

// A job whose agent stands still keeps a service that was told to end for some seconds.
TEST_F(ServiceWire, IsNotHealthyOnceItIsBeingStopped) {
  serve(0);
  const std::unique_ptr<Client> job = start("job1");
  ASSERT_TRUE(job->welcome);
  ASSERT_EQ(hosts.run(0, "kill -STOP " + std::to_string(job->welcome->pid())).exit_code, 0);
  signalService(0, "TERM");
  EXPECT_TRUE(waitUntil([&] { return health("alice").code() == Code::kUnavailable; }, kTimeout));
}

TEST_F(ServiceWire, EndsAJobForWhoHasItsTokenAndTheCertificate) {
  writeUsers(0, "alice = nobody\neve = nobody\n");
  serve(0);
  const std::unique_ptr<Client> job = start("job1");
  const std::unique_ptr<Client> other = start("job2");
  ASSERT_TRUE(job->welcome && other->welcome);
  const std::string token = job->welcome->token();
  EXPECT_THAT(token, MatchesRegex("[0-9a-f]{32}"));
  for (const Status& refused : {endJob("eve", "job1", token), endJob("alice", "job2", token),
                                endJob("alice", "job1", ""), endJob("alice", "job3", token)}) {
    EXPECT_EQ(refused.code(), Code::kPermissionDenied);
    EXPECT_THAT(refused.message(), HasSubstr("with this token"));
  }
  EXPECT_FALSE(job->ended);
  EXPECT_TRUE(endJob("alice", "job1", token).ok());
  runUntil(loop_, [&] { return job->ended.has_value(); });
  EXPECT_THAT(job->ended->message(), HasSubstr("its launcher ended it"));
  EXPECT_FALSE(other->ended) << "another job of the same user";
  other->call->close();
  runUntil(loop_, [&] { return other->ended.has_value(); });
  EXPECT_EQ(leftOfJobs(), "");
  // A process that exits has no command line any more while its streams, which end the job, are still open.
  EXPECT_TRUE(
      waitUntil([&] { return endJob("alice", "job1", token).code() == Code::kPermissionDenied; }, kTimeout))
      << "a token ends with its job";
}

TEST_F(ServiceWire, RefusesALauncherOfAnotherVersion) {
  serve(0);
  const std::unique_ptr<Client> job = start("job1", contract::kAgentProtocol + 1);
  ASSERT_TRUE(job->ended);
  EXPECT_EQ(job->ended->code(), Code::kFailedPrecondition);
  EXPECT_THAT(job->ended->message(), AllOf(HasSubstr(contract::kVersion), HasSubstr("0.0.test")));
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(ServiceWire, LogsLittleOfAJobsIdThatIsTooLong) {
  serve(0);
  const std::unique_ptr<Client> client = start(std::string(40'000, 'x'));
  EXPECT_THAT(client->ended->message(), HasSubstr("a job needs an id of 1 to 128 characters"));
  ASSERT_TRUE(waitForLog(0, "a job needs an id"));
  EXPECT_LT(logOf(0).size(), 1000u);
}

TEST_F(ServiceWire, HoldsAJobToTheLimitsWhateverItHasAnnounced) {
  writeUsers(0, "alice = nobody instances=4\n");
  serve(0);
  const std::unique_ptr<Client> job = start("job1");
  ASSERT_TRUE(job->welcome);
  wire::v1::Command command;
  command.set_number(2);
  for (int instance = 0; instance < 5; ++instance) command.mutable_run()->add_instances();
  job->call->send(std::move(command));
  runUntil(loop_, [&] { return job->ended.has_value(); });
  EXPECT_EQ(job->ended->code(), Code::kResourceExhausted);
  EXPECT_THAT(job->ended->message(), HasSubstr("'alice' may have 4 instances at once"));
  EXPECT_EQ(leftOfJobs(), "");
}

// Its agent ignores a command whose number it knows.
TEST_F(ServiceWire, CountsWhatRunsWhateverIsAskedForNext) {
  writeUsers(0, "alice = nobody instances=4\n");
  serve(0);
  const std::unique_ptr<Client> job = start("job1");
  ASSERT_TRUE(job->welcome);
  job->call->send(runOf(2, 4));
  runUntil(loop_, [&] { return job->started == 4 || job->ended; });
  job->call->send(runOf(0, 1));
  job->call->send(wire::encode(NumberedCommand{3, SignalCommand{SIGSTOP}}));  // which is answered
  runUntil(loop_, [&] { return job->stopped || job->ended; });
  ASSERT_FALSE(job->ended) << job->ended->message();
  const std::unique_ptr<Client> more = start("job2");
  ASSERT_TRUE(more->ended);
  EXPECT_THAT(more->ended->message(), HasSubstr("has 4 and asks for 1 more"));
  job->call->close();
  EXPECT_EQ(leftOfJobs(), "");
}

// Two bytes of a message can be an object of a hundred.
TEST_F(ServiceWire, BuildsNothingOfACommandThatIsForTheAgent) {
  serve(0);
  const std::unique_ptr<Client> job = start("job1");
  ASSERT_TRUE(job->welcome);
  const std::size_t before = mostMemoryKiB();
  wire::v1::Command command;
  for (int i = 0; i < 2'000'000; ++i) command.mutable_run()->add_environment();
  for (int i = 0; i < 70'000; ++i) command.mutable_run()->add_instances();
  job->call->send(std::move(command));
  runUntil(loop_, [&] { return job->ended.has_value(); });
  EXPECT_EQ(job->ended->code(), Code::kInvalidArgument);
  EXPECT_THAT(job->ended->message(), AllOf(HasSubstr("65536"), HasSubstr("70000")));
  EXPECT_LT(mostMemoryKiB() - before, 32U << 10);
  EXPECT_EQ(leftOfJobs(), "");
}

// An agent is a process of its user's, who may have made it say anything.
TEST_F(ServiceWire, BuildsNoLongReportOfAnAgent) {
  wire::v1::Report report;
  report.mutable_welcome()->set_host_name(std::string(100'000, 'x'));
  std::ofstream(hosts.tmp(0) + "/report") << contract::encode({2, {report.SerializeAsString()}}).value();
  std::filesystem::copy(POP_BIN_DIR "/popdist-agent-service", hosts.tmp(0) + "/popdist-agent-service");
  const std::string agent = hosts.tmp(0) + "/popdist-agent";
  std::ofstream(agent) << "#!/bin/sh\nexec cat /tmp/report -\n";
  std::filesystem::permissions(agent, std::filesystem::perms(0755));
  serve(0, "--spares 0", "/tmp/popdist-agent-service");
  const std::unique_ptr<Client> job = start("job1");
  EXPECT_FALSE(job->welcome);
  ASSERT_TRUE(job->ended);
  EXPECT_THAT(job->ended->message(), HasSubstr("longer than the limit"));
}

TEST_F(ServiceWire, KeepsLittleForAnAgentThatDoesNotRead) {
  serve(0, "--spares 0");
  const std::unique_ptr<Client> job = start("job1");
  ASSERT_TRUE(job->welcome);
  const pid_t agent = agentOn(0);
  Tracer tracer(agent);  // or else the service lets it go on after a second
  ASSERT_TRUE(tracer.holds());
  ASSERT_EQ(::kill(agent, SIGSTOP), 0);
  wire::v1::Command command;
  command.set_input(std::string(1 << 20, 'x'));
  for (int i = 0; i < 100; ++i) job->call->send(command);
  runUntil(loop_, [&] { return job->ended.has_value(); });
  EXPECT_EQ(job->ended->code(), Code::kResourceExhausted);
  EXPECT_THAT(job->ended->message(),
              HasSubstr("the popdist-agent there: more than 64 MiB are waiting to be sent"));
  tracer.letGo();
  EXPECT_EQ(leftOfJobs(), "");
}

// Connected, with a certificate, and then silent: the oldest make way, and nothing of them is kept.
TEST_F(ServiceWire, LetsGoOfWhoHasAskedForAJobAndSaysNoMore) {
  serve(0);
  const auto alices = serviceAsSeenBy("alice");
  std::vector<std::unique_ptr<wire::AgentCall>> unauthenticated;
  std::array<std::optional<Status>, 260> ended;
  for (std::optional<Status>& outcome : ended) {
    unauthenticated.push_back(std::make_unique<wire::ServiceCall>(
        loop_, alices, wire::AgentCall::Events{.report = nullptr, .ended = [&outcome](const Status& why) {
                                                 outcome = why;
                                               }}));
    // The first have asked when one who comes later has his answer.
    EXPECT_TRUE(unauthenticated.size() != 4 || health("alice").ok());
  }
  const auto is_over = [](const std::optional<Status>& outcome) { return outcome.has_value(); };
  runUntil(loop_, [&] { return std::all_of(ended.begin(), ended.begin() + 4, is_over); });
  EXPECT_THAT(logOf(0), HasSubstr("too many unauthenticated connections"));
  // On a slow machine the time of others may be up as well.
  const auto made_way = [](const std::optional<Status>& outcome) {
    return outcome && outcome->code() == Code::kResourceExhausted;
  };
  EXPECT_TRUE(std::all_of(ended.begin(), ended.begin() + 4, made_way));
  EXPECT_EQ(std::count_if(ended.begin(), ended.end(), made_way), 4);
}

TEST_F(ServiceWire, RefusesASecondCallForARunningJob) {
  serve(0);
  const std::unique_ptr<Client> job = start("job1");
  ASSERT_TRUE(job->welcome);
  const std::unique_ptr<Client> again = start("job1");
  ASSERT_TRUE(again->ended);
  EXPECT_EQ(again->ended->code(), Code::kAlreadyExists);
  EXPECT_FALSE(job->ended);
}

// A thief of the certificate, or of the issuer's key, would try this.
TEST_F(ServiceWire, TakesAJobsCertificateForThatJobOnItsHostsOnly) {
  ASSERT_EQ(
      std::system((POP_BIN_DIR "/popdist-agent init-tls --dir " + tls() + " --issuer >/dev/null").c_str()),
      0);
  const tls::KeyPair issuer{fileText(tls() + "/issuer.pem"), fileText(tls() + "/issuer-key.pem")};
  const tls::KeyPair authority{fileText(tls() + "/ca.pem"), fileText(tls() + "/ca-key.pem")};
  serve(0);
  const auto startWith = [this](const tls::KeyPair& of, const Result<tls::KeyPair>& pair,
                                const std::string& job_id) {
    const std::unique_ptr<Client> client = start(job_id, serviceAsSeenBy(of, pair.value()));
    return client->welcome ? Status() : client->ended.value_or(internalError("nothing"));
  };
  const auto jobOf = [](const std::string& user, const std::vector<std::string>& on) {
    return tls::JobName{7, "id7", user, on};
  };
  EXPECT_TRUE(
      startWith(issuer, tls::makeJobCertificate(issuer, jobOf("alice", {"h9", "H0"}), 1), "id7").ok());
  const Status other_job =
      startWith(issuer, tls::makeJobCertificate(issuer, jobOf("alice", {"h0"}), 1), "id8");
  EXPECT_EQ(other_job.code(), Code::kPermissionDenied);
  EXPECT_THAT(other_job.message(), HasSubstr("'id7' is for that job only"));
  const Status other_host =
      startWith(issuer, tls::makeJobCertificate(issuer, jobOf("alice", {"h1"}), 1), "id7");
  EXPECT_EQ(other_host.code(), Code::kPermissionDenied);
  EXPECT_THAT(other_host.message(), HasSubstr("good on the job's hosts only"));
  EXPECT_EQ(startWith(issuer, tls::makeJobCertificate(issuer, jobOf("eve", {"h0"}), 1), "id7").code(),
            Code::kPermissionDenied)
      << "the users file counts, too";
  EXPECT_EQ(startWith(issuer, tls::makeUserCertificate(issuer, "alice", 1), "id7").code(), Code::kUnavailable)
      << "the issuer signs no users";
  EXPECT_EQ(startWith(issuer, tls::makeHostCertificate(issuer, {"h0"}, 1), "id7").code(), Code::kUnavailable);
  EXPECT_EQ(startWith(authority, tls::makeJobCertificate(authority, jobOf("alice", {"h0"}), 1), "id7").code(),
            Code::kUnavailable)
      << "jobs' certificates are the issuer's";
}

}  // namespace
}  // namespace pop::testing
