// SPDX-License-Identifier: Apache-2.0
// Clients at the agent service's port: questions, unauthenticated clients, noise, floods.
#include "common/agent_service/agent_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <random>

#include "common/agent_service/service_call.h"
#include "common/contract/frame.h"
#include "tests/testing/run_until.h"
#include "tests/testing/test_pairs.h"

namespace pop::wire {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::runUntil;
using ::testing::SizeIs;

class AgentServerTest : public ::testing::Test {
 protected:
  AgentServer& serve(bool has_tls = true, const ServerLimits& limits = {}) {
    server_.emplace(
        loop_,
        AgentServer::Handlers{.run = [this](std::shared_ptr<ServedCall> call) { hold(std::move(call)); },
                              .describe = [](const Peer& peer) -> Result<v1::HostDescription> {
                                if (peer.name == "eve") return Status(Code::kPermissionDenied, "not eve");
                                v1::HostDescription description;
                                description.set_user(peer.name);
                                return description;
                              },
                              .end_job = [](const Peer& peer, const v1::EndJobRequest& request) -> Status {
                                if (request.token() == "right") return {};
                                if (request.token() == "broken")
                                  return {Code::kDataLoss, "it sent a malformed request"};
                                return {Code::kPermissionDenied, peer.name + " has a wrong token"};
                              },
                              .note = [this](const std::string& line) { notes_.push_back(line); }},
        limits);
    address_ = {.host = "127.0.0.1", .tls = has_tls ? pairs_.client() : nullptr, .timeout = 5s};
    address_.port = server_->listenAt("127.0.0.1", 0, has_tls ? pairs_.server() : nullptr).value();
    return *server_;
  }

  // Keeps the call until nothing comes any more, as the service does.
  void hold(std::shared_ptr<ServedCall> call) {
    ServedCall* const held = call.get();
    asked_.push_back(call);
    calls_.push_back(std::move(call));
    held->listen({.command = nullptr, .closed = [this, held] {
                    held->finish({Code::kCancelled, "the launcher is gone"});
                    loop_.post([this, held] {
                      std::erase_if(calls_, [held](const auto& each) { return each.get() == held; });
                    });
                  }});
  }

  Status ask(const v1::ServiceRequest& request, const ServiceAddress& address) {
    std::optional<Status> outcome;
    ServiceQuestion question(loop_, address, request, 10s, [&](const Status& how, const std::string& answer) {
      outcome = how;
      answer_ = answer;
    });
    runUntil(loop_, [&] { return outcome.has_value(); });
    return *outcome;
  }

  static v1::ServiceRequest health() {
    v1::ServiceRequest request;
    request.mutable_check_health();
    return request;
  }

  // A client that only has a socket.
  os::Dialled dial() {
    std::optional<os::Dialled> made;
    os::TcpDial dialling(loop_, "127.0.0.1", address_.port, 5s,
                         [&](os::Dialled outcome) { made = std::move(outcome); });
    runUntil(loop_, [&] { return made.has_value(); });
    return std::move(*made);
  }

  // The same by another address of this host's.
  sys::Fd dialFrom(const std::string& address) const {
    sys::Fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    EXPECT_EQ(::inet_pton(AF_INET, address.c_str(), &at.sin_addr), 1);
    EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::inet_pton(AF_INET, "127.0.0.1", &at.sin_addr), 1);
    at.sin_port = htons(static_cast<std::uint16_t>(address_.port));
    EXPECT_EQ(::connect(made.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    return made;
  }

  // True once the server has closed it.
  bool isClosed(int socket) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

  static std::size_t openDescriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  os::EpollLoop loop_;
  testing::TestPairs pairs_;
  std::vector<std::shared_ptr<ServedCall>> calls_;
  std::vector<std::weak_ptr<ServedCall>> asked_;  ///< all that there were
  std::vector<std::string> notes_;
  std::string answer_;
  ServiceAddress address_;
  std::optional<AgentServer> server_;
};

TEST_F(AgentServerTest, AnswersQuestions) {
  serve();
  v1::ServiceRequest request;
  request.mutable_describe();
  EXPECT_TRUE(ask(request, address_).ok());
  v1::HostDescription description;
  ASSERT_TRUE(description.ParseFromString(answer_));
  EXPECT_EQ(description.user(), "alice");
  request.mutable_end_job()->set_token("right");
  EXPECT_TRUE(ask(request, address_).ok());
  EXPECT_EQ(ask({}, address_).code(), Code::kUnimplemented);
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(AgentServerTest, SaysWhoWasRefusedAnAnswerAndWhy) {
  serve();
  v1::ServiceRequest request;
  request.mutable_end_job()->set_token("wrong");
  EXPECT_EQ(ask(request, address_), Status(Code::kPermissionDenied, "alice has a wrong token"));
  address_.tls = pairs_.client("eve");
  request.mutable_describe();
  EXPECT_EQ(ask(request, address_), Status(Code::kPermissionDenied, "not eve"));
  EXPECT_THAT(notes_, ElementsAre("a connection from 127.0.0.1: alice has a wrong token",
                                  "a connection from 127.0.0.1: not eve"));
}

TEST_F(AgentServerTest, SaysWhetherItServes) {
  AgentServer& server = serve();
  EXPECT_TRUE(ask(health(), address_).ok());
  server.sayStopping();
  EXPECT_EQ(ask(health(), address_).code(), Code::kUnavailable);
}

TEST_F(AgentServerTest, SaysWhoWasTurnedAwayAndWhy) {
  serve();
  const testing::TestPairs others;
  const tls::KeyPair user = tls::makeUserCertificate(others.authority, "alice", 10).value();
  address_.tls = tls::TlsContext::make(
                     tls::tlsFilesOf(pairs_.authority.certificate_pem, user.certificate_pem, user.key_pem),
                     tls::TlsRole::kClient)
                     .value();
  EXPECT_THAT(ask(health(), address_).message(), HasSubstr("it does not accept your certificate"));
  runUntil(loop_, [&] { return !notes_.empty(); });
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("a connection from 127.0.0.1: its certificate is refused")));
}

TEST_F(AgentServerTest, TellsAClientWithoutTlsWhatItWants) {
  serve();
  address_.tls = nullptr;
  EXPECT_THAT(ask(health(), address_).message(), HasSubstr("it probably wants TLS"));
}

TEST_F(AgentServerTest, WithoutTlsTellsAClientWithItSo) {
  serve(false);
  EXPECT_TRUE(ask(health(), address_).ok());
  address_.tls = pairs_.client();
  EXPECT_THAT(ask(health(), address_).message(), HasSubstr("it does not use TLS on that port"));
}

TEST_F(AgentServerTest, IsLeftByWhoHasHisAnswer) {
  serve();
  const std::size_t before = openDescriptors();
  std::optional<Status> outcome;
  const ServiceQuestion kept(loop_, address_, health(), 10s,
                             [&](const Status& how, const std::string&) { outcome = how; });
  runUntil(loop_, [&] { return outcome.has_value() && openDescriptors() == before; });
}

TEST_F(AgentServerTest, DoesNotTakeWhatItAnswersForAWishForTls) {
  serve(false);
  v1::ServiceRequest request;
  request.mutable_end_job()->set_token("broken");
  EXPECT_EQ(ask(request, address_), Status(Code::kDataLoss, "it sent a malformed request"));
}

TEST_F(AgentServerTest, DoesNotWaitForEverForUnauthenticatedClients) {
  serve(true, {.connection = {.timeout = 50ms}});
  const os::Dialled silent = dial();
  runUntil(loop_, [&] { return isClosed(silent.socket.get()); });
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("no request arrived in time")));
}

TEST_F(AgentServerTest, SaysOnceThatItHasNoDescriptorsLeftAndGoesOn) {
  serve(false);
  const sys::Fd waiting = dialFrom("127.0.0.1");
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none_left{.rlim_cur = 3, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  bool long_after = false;
  loop_.postAfter(350ms, [&] { long_after = true; });  // it has looked again three times
  runUntil(loop_, [&] { return long_after; });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr("Too many open files"), HasSubstr("ulimit -n"))));
  EXPECT_TRUE(ask(health(), address_).ok());
}

// Nor for who has a certificate and then says nothing of a job.
TEST_F(AgentServerTest, DoesNotWaitForEverForAJobThatIsNotTrusted) {
  serve(true, {.connection = {.timeout = 5s}});  // which the handshake is part of
  std::optional<Status> ended;
  ServiceCall call(loop_, address_, {.report = nullptr, .ended = [&](const Status& how) { ended = how; }});
  runUntil(loop_, [&] { return ended.has_value(); });
  EXPECT_EQ(ended->code(), Code::kDeadlineExceeded);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("no request arrived in time")));
  ASSERT_FALSE(asked_.empty());
  runUntil(loop_, [&] { return asked_.front().expired(); });
}

TEST_F(AgentServerTest, LetsTheOldestGoWhenUnauthenticatedClientsAreMany) {
  serve(true, {.max_unauthenticated = 4});
  std::vector<os::Dialled> unauthenticated;
  for (int i = 0; i < 10; ++i) unauthenticated.push_back(dial());
  runUntil(loop_, [&] { return isClosed(unauthenticated[5].socket.get()); });
  EXPECT_TRUE(ask(health(), address_).ok()) << "among them, one who is quick is served";
  EXPECT_FALSE(isClosed(unauthenticated[9].socket.get()));
}

TEST_F(AgentServerTest, LetsThoseGoWhoseAddressHasMostOfTheUnauthenticatedClients) {
  serve(true, {.max_unauthenticated = 4});
  const sys::Fd patient = dialFrom("127.0.0.2");
  std::vector<os::Dialled> many;
  for (int i = 0; i < 10; ++i) many.push_back(dial());
  runUntil(loop_, [&] { return isClosed(many[6].socket.get()); });
  EXPECT_FALSE(isClosed(patient.get())) << "the oldest of all";
  EXPECT_FALSE(isClosed(many[7].socket.get()));
  EXPECT_THAT(notes_, AllOf(SizeIs(7), Each(HasSubstr("a connection from 127.0.0.1: too many"))));
}

TEST_F(AgentServerTest, LetsTheOldestGoWhereNoAddressHasMore) {
  serve(true, {.max_unauthenticated = 3});
  std::vector<sys::Fd> each;
  for (const char* const address : {"127.0.0.9", "127.0.0.8", "127.0.0.7", "127.0.0.2"})
    each.push_back(dialFrom(address));
  runUntil(loop_, [&] { return isClosed(each.front().get()); });
  EXPECT_FALSE(isClosed(each.back().get()));
}

// Connections that have asked for a job count as well: the server of the call lets go of them.
TEST_F(AgentServerTest, LetsTheOldestGoThatHaveAskedForAJobAndSaidNoMore) {
  serve(true, {.max_unauthenticated = 4});
  std::array<std::optional<Status>, 10> ended;
  std::vector<std::unique_ptr<ServiceCall>> unauthenticated;
  for (std::optional<Status>& outcome : ended) {
    unauthenticated.push_back(std::make_unique<ServiceCall>(
        loop_, address_,
        AgentCall::Events{.report = nullptr, .ended = [&outcome](const Status& how) { outcome = how; }}));
    runUntil(loop_, [&] { return asked_.size() == unauthenticated.size(); });
  }
  runUntil(loop_, [&] { return ended[5].has_value() && asked_[5].expired(); });
  for (std::size_t i = 0; i < ended.size(); ++i) {
    EXPECT_EQ(ended.at(i).has_value(), i < 6) << i;
    EXPECT_EQ(asked_[i].expired(), i < 6) << i;
    EXPECT_EQ(ended.at(i).value_or(Status()).code(), i < 6 ? Code::kResourceExhausted : Code::kOk) << i;
  }
  EXPECT_THAT(notes_, AllOf(SizeIs(6), Each(HasSubstr("too many unauthenticated connections"))));
}

TEST_F(AgentServerTest, LetsNobodyWriteLinesOfTheLog) {
  serve(false);
  MessageStream liar(loop_, std::move(dial().socket), {}, {[](const std::string&) {}, [](const Status&) {}});
  liar.end({Code::kNotFound, "away\njob 'x' of 'root': started" + std::string(5000, '!')});
  runUntil(loop_, [&] { return !notes_.empty(); });
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr("away\\x0ajob"), Not(HasSubstr("\n")))));
  EXPECT_LT(notes_.front().size(), 300U);
}

TEST_F(AgentServerTest, HoldsUnauthenticatedClientsToShortMessages) {
  serve(false);
  v1::ServiceRequest request;
  request.mutable_end_job()->set_token(std::string(70'000, 'x'));
  EXPECT_FALSE(ask(request, address_).ok());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("longer than the limit")));
}

TEST_F(AgentServerTest, HoldsATrustedJobToLongMessages) {
  serve(true, {.connection = {.most_trusted_bytes = 2 << 20, .last_words = 50ms}});
  std::optional<Status> ended;
  ServiceCall call(loop_, address_, {.report = nullptr, .ended = [&](const Status& how) { ended = how; }});
  runUntil(loop_, [&] { return !calls_.empty(); });
  calls_.front()->trust();
  v1::Command command;
  command.set_input(std::string(5 << 20, 'x'));
  call.send(command);
  runUntil(loop_, [&] { return ended.has_value() && asked_.front().expired(); });
  EXPECT_EQ(*ended, Status(Code::kResourceExhausted, "a message is too long"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("a message is too long")));
}

TEST_F(AgentServerTest, PassesCommandsOnAsTheyCame) {
  serve();
  ServiceCall call(loop_, address_, {});
  runUntil(loop_, [&] { return !calls_.empty(); });
  std::vector<std::string> commands;
  calls_.front()->relayCommands([&](std::string_view command) { commands.emplace_back(command); });
  v1::Command command;
  command.set_input("text");
  call.send(command);
  runUntil(loop_, [&] { return !commands.empty(); });
  EXPECT_THAT(commands, ElementsAre(command.SerializeAsString()));
}

TEST_F(AgentServerTest, KeepsLittleForATrustedJobThatDoesNotRead) {
  serve(false, {.connection = {.most_trusted_bytes = 1 << 20, .last_words = 50ms}});
  const os::Dialled client = dial();
  v1::ServiceRequest request;
  request.mutable_run();
  const std::string bytes = contract::encode({2, {request.SerializeAsString()}}).value();
  ASSERT_EQ(::send(client.socket.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  runUntil(loop_, [&] { return !calls_.empty(); });
  calls_.front()->trust();
  v1::Report report;
  report.mutable_output()->set_text(std::string(100'000, 'x'));
  for (int i = 0; i < 500; ++i) calls_.front()->send(report);
  runUntil(loop_, [&] { return !notes_.empty() && asked_.front().expired(); });
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("more than 1 MiB are waiting to be sent")));
}

TEST_F(AgentServerTest, SurvivesNoise) {
  for (const bool has_tls : {true, false}) {
    serve(has_tls);
    std::mt19937 random(3);
    for (int round = 0; round < 50; ++round) {
      const os::Dialled pending = dial();
      std::string noise;
      for (std::size_t left = 1 + random() % 5000; left > 0; --left) noise += static_cast<char>(random());
      if (round % 2 == 0) noise[0] = '\x16';
      static_cast<void>(::send(pending.socket.get(), noise.data(), noise.size(), MSG_NOSIGNAL));
    }
    EXPECT_TRUE(ask(health(), address_).ok());
    EXPECT_TRUE(calls_.empty());
  }
}

// The end must not be lost to what the client has still on its way.
TEST_F(AgentServerTest, BringsTheEndToAClientThatIsStillTalking) {
  serve();
  for (int round = 0; round < 20; ++round) {
    std::optional<Status> ended;
    ServiceCall call(loop_, address_, {.report = nullptr, .ended = [&](const Status& how) { ended = how; }});
    runUntil(loop_, [&] { return !calls_.empty(); });
    calls_.front()->trust();
    v1::Command command;
    command.set_input(std::string(200'000, 'x'));
    call.send(command);
    calls_.front()->finish({Code::kResourceExhausted, "enough"});
    calls_.clear();
    runUntil(loop_, [&] { return ended.has_value(); });
    EXPECT_EQ(*ended, Status(Code::kResourceExhausted, "enough"));
  }
}

TEST_F(AgentServerTest, TakesAPortThatIsFreeOnly) {
  serve();
  AgentServer other(loop_, {});
  EXPECT_THAT(other.listenAt("127.0.0.1", address_.port, nullptr).status().message(),
              HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace pop::wire
