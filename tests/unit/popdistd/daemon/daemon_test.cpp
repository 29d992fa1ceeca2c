// SPDX-License-Identifier: Apache-2.0
// The daemon's life around a core that does nothing: options, systemd, signals.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <regex>
#include <thread>

#include "common/sys/host_name.h"
#include "popdistd/daemon.h"
#include "popdistd/daemon_options.h"
#include "tests/testing/fake_api.h"
#include "tests/testing/fake_pods_api.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_pairs.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct FakeCore {
  testing::FakeApi api;
  testing::FakeGate gate;
  testing::FakePodsApi pods;
  testing::FakeVipuApi vipu;
  std::vector<std::string> stopping;

  DaemonParts parts() {
    return {.served = {api, gate, pods, vipu},
            .measures = [] { return CoreMeasures(); },
            .identify = [](const Peer& peer, const Credentials&) -> Result<Caller> {
              // The certificate's user: that it arrived is what a test of certificates looks for.
              return Caller{.user = peer.uris.empty() ? "me" : peer.uris.front(),
                            .role = v1::ROLE_ADMIN,
                            .known_by = v1::KNOWN_BY_HOST};
            },
            .stopping = [this](const Status& why) { stopping.push_back(why.message()); }};
  }
};

// systemd's end of the notifications.
class NotifySocket {
 public:
  NotifySocket() : path_((directory_ / "notify").string()), socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    POP_CHECK(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    timeval limit{.tv_sec = 20};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }
  ~NotifySocket() { ::unsetenv("NOTIFY_SOCKET"); }

  std::string next() const {
    std::array<char, 256> text{};
    const ssize_t count = ::recv(socket_.get(), text.data(), text.size(), 0);
    return count < 0 ? "(nothing)" : std::string(text.data(), static_cast<std::size_t>(count));
  }

 private:
  testing::TempDir directory_;
  std::string path_;
  sys::Fd socket_;
};

TEST(Daemon, TellsSystemdOfItsLifeAndEndsBySigterm) {
  const NotifySocket notify;
  ::setenv("WATCHDOG_USEC", "200000", 1);
  ::unsetenv("WATCHDOG_PID");
  os::EpollLoop loop;
  FakeCore core;
  const DaemonOptions options{
      .listen = {"127.0.0.1", 0}, .http = os::Place{"127.0.0.1", 0}, .insecure = true};
  Clock::time_point asked;
  std::thread systemd([&] {
    EXPECT_EQ(notify.next(), "WATCHDOG=1");
    EXPECT_EQ(notify.next(), "READY=1");
    EXPECT_EQ(notify.next(), "WATCHDOG=1");
    ::kill(::getpid(), SIGHUP);
    EXPECT_EQ(notify.next(), "WATCHDOG=1") << "nothing to reload";
    asked = Clock::now();
    ::kill(::getpid(), SIGTERM);
    std::string heard = "WATCHDOG=1";
    while (heard == "WATCHDOG=1") heard = notify.next();
    EXPECT_EQ(heard, "STOPPING=1");
  });
  const Status how = runDaemon(loop, core.parts(), options);
  EXPECT_TRUE(how.ok()) << how.message();
  EXPECT_LT(Clock::now() - asked, std::chrono::seconds(2));
  EXPECT_THAT(core.stopping, ElementsAre(HasSubstr("signal 15")));
  systemd.join();
  ::unsetenv("WATCHDOG_USEC");
}

// Both servers have their own OpenSSL in this one process.
TEST(Daemon, ServesByCertificatesAndReloadsThem) {
  const testing::TempDir directory;
  const auto install = [&directory](const testing::TestPairs& pairs) {
    const tls::KeyPair host = tls::makeHostCertificate(pairs.authority, {"127.0.0.1"}, 60).value();
    const tls::KeyPair alice = tls::makeUserCertificate(pairs.authority, "alice", 60).value();
    for (const auto& [name, text] :
         {std::pair("ca.pem", pairs.authority.certificate_pem), std::pair("host.pem", host.certificate_pem),
          std::pair("host-key.pem", host.key_pem), std::pair("alice.pem", alice.certificate_pem),
          std::pair("alice-key.pem", alice.key_pem)}) {
      std::ofstream(directory / name) << text;
      ::chmod((directory / name).c_str(), 0600);
    }
  };
  const auto curl = [&directory](const std::string& options, const std::string& port) {
    const std::string base = directory.path() + '/';
    const std::string command = "curl -sSi --max-time 20 --cacert " + base + "ca.pem --cert " + base +
                                "alice.pem --key " + base + "alice-key.pem " + options +
                                " https://127.0.0.1:" + port + "/v1/About 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text(65536, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe.get()));
    return text;
  };
  std::promise<std::string> listens;
  std::promise<void> reloaded;
  log::setLevel(log::Level::kInfo);
  log::setSink([&](std::string_view line) {
    if (line.find("listens at") != std::string_view::npos) listens.set_value(std::string(line));
    if (line.find("reloaded") != std::string_view::npos) reloaded.set_value();
  });
  install({});
  os::EpollLoop loop;
  FakeCore core;
  const DaemonOptions options{
      .listen = {"127.0.0.1", 0}, .http = os::Place{"127.0.0.1", 0}, .tls_directory = directory.path()};
  std::thread client([&] {
    const std::string line = listens.get_future().get();
    std::smatch ports;
    ASSERT_TRUE(std::regex_search(line, ports, std::regex("port ([0-9]+).*port ([0-9]+)")));
    const auto serves = [&] {
      EXPECT_THAT(curl("--http2", ports[1]), HasSubstr("HTTP/2 ")) << "gRPC";
      EXPECT_THAT(curl("--json {}", ports[2]), HasSubstr(R"("user":"popdist:user:alice")"));
    };
    serves();
    install({});
    ::kill(::getpid(), SIGHUP);
    reloaded.get_future().wait();
    serves();
    ::kill(::getpid(), SIGTERM);
  });
  const Status how = runDaemon(loop, core.parts(), options);
  EXPECT_TRUE(how.ok()) << how.message();
  client.join();
  log::setSink(nullptr);
}

TEST(Daemon, SaysWhyItCannotStart) {
  os::EpollLoop loop;
  FakeCore core;
  DaemonOptions options{.listen = {"192.0.2.1", 0}, .http = {}, .insecure = true};
  EXPECT_THAT(runDaemon(loop, core.parts(), options).message(), HasSubstr("without TLS anybody"));
  options.tls_directory = "/nowhere";
  EXPECT_THAT(runDaemon(loop, core.parts(), options).message(), HasSubstr("this host has no certificate"));
}

TEST(Daemon, ListensWithoutTlsForItsOwnUserOnly) {
  DaemonOptions options;
  const os::Place loopback{"127.0.0.1", 1};
  EXPECT_TRUE(checkListening("--listen", loopback, options, 1000).ok());
  EXPECT_THAT(checkListening("--listen", loopback, options, 0).message(), HasSubstr("--insecure"));
  options.insecure = true;
  EXPECT_TRUE(checkListening("--listen", loopback, options, 0).ok());
  EXPECT_THAT(checkListening("--http", {"0.0.0.0", 1}, options, 1000).message(), HasSubstr("--http"));
  options.tls_directory = "/etc/popdist";
  EXPECT_TRUE(checkListening("--http", {"0.0.0.0", 1}, options, 0).ok());
}

TEST(DaemonOptions, AreRead) {
  const auto parsed = parseDaemonOptions({"--listen", "[::]:1", "--http", "none", "--tls", "/t", "--state",
                                          "/s", "--insecure", "--log-level", "debug", "--advertise",
                                          "head.example", "--most-slots", "64"});
  ASSERT_TRUE(std::holds_alternative<DaemonOptions>(parsed));
  const auto& options = std::get<DaemonOptions>(parsed);
  EXPECT_EQ(options.listen.address, "::");
  EXPECT_EQ(options.listen.port, 1);
  EXPECT_FALSE(options.http);
  EXPECT_EQ(options.tls_directory, "/t");
  EXPECT_EQ(options.state_directory, "/s");
  EXPECT_TRUE(options.insecure);
  EXPECT_EQ(options.advertised_host, "head.example");
  EXPECT_EQ(options.most_slots, 64);
  EXPECT_EQ(options.log_level, log::Level::kDebug);
}

TEST(DaemonOptions, OfSeveralWithOneStoreAreRead) {
  const auto parsed = parseDaemonOptions({"--etcd", "h0:2379,h1:2379", "--etcd-tls", "/t", "--etcd-prefix",
                                          "/a/b/", "--advertise", "head", "--peer-address", "head2"});
  ASSERT_TRUE(std::holds_alternative<DaemonOptions>(parsed));
  const EtcdOptions& etcd = std::get<DaemonOptions>(parsed).etcd;
  EXPECT_THAT(etcd.addresses, ::testing::ElementsAre("h0:2379", "h1:2379"));
  EXPECT_EQ(etcd.tls_directory, "/t");
  EXPECT_EQ(etcd.prefix, "/a/b");
  EXPECT_EQ(etcd.peer_host, "head2");
  const auto usual = std::get<DaemonOptions>(parseDaemonOptions({"--etcd", "h0:1", "--advertise", "head"}));
  EXPECT_EQ(usual.etcd.peer_host, "head");
}

TEST(DaemonOptions, HaveDefaults) {
  const auto parsed = parseDaemonOptions({});
  const auto& options = std::get<DaemonOptions>(parsed);
  EXPECT_EQ(options.listen.port, 8090);
  EXPECT_EQ(options.http->port, 8091);
  EXPECT_FALSE(options.state_directory.empty());
  const auto relative = std::get<DaemonOptions>(parseDaemonOptions({"--state", "st"}));
  EXPECT_EQ(relative.state_directory, std::filesystem::current_path() / "st");
  EXPECT_EQ(options.advertised_host, sys::hostName());
  EXPECT_EQ(std::get<DaemonOptions>(parseDaemonOptions({"--dev"})).advertised_host, "localhost");
}

// A system user has no home.
TEST(DaemonOptions, TakeTheDirectoriesOfAUnit) {
  ::setenv("STATE_DIRECTORY", "/var/lib/popdistd", 1);
  ::setenv("RUNTIME_DIRECTORY", "/run/popdistd", 1);
  const auto options = std::get<DaemonOptions>(parseDaemonOptions({}));
  const auto named = std::get<DaemonOptions>(parseDaemonOptions({"--state", "/s"}));
  ::unsetenv("STATE_DIRECTORY");
  ::unsetenv("RUNTIME_DIRECTORY");
  EXPECT_EQ(options.state_directory, "/var/lib/popdistd");
  EXPECT_EQ(options.socket, "/run/popdistd/popdistd.sock");
  EXPECT_EQ(named.state_directory, "/s");
}

TEST(DaemonOptions, ThatAreWrongAreRefused) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--etcd", "h0"},
                                             {"--etcd", "https://h0:2379"},
                                             {"--etcd-tls", "/tls"},
                                             {"--etcd-prefix", "/other"},
                                             {"--peer-address", "h1"},
                                             {"--etcd", "h0:1,"},
                                             {"--etcd", "h0:1", "--etcd-prefix", "/"},
                                             {"--etcd", "h0:1", "--etcd-prefix", "x"},
                                             {"--etcd", "h0:1", "--dev"},
                                             {"--etcd", "h0:1", "--listen", "127.0.0.1:0"},
                                             {"--listen", "8090"},
                                             {"--http", "x"},
                                             {"--log-level", "loud"},
                                             {"--what"},
                                             {"word"},
                                             {"--backfill-age", "nan"},
                                             {"--most-slots", "-1"},
                                             {"--most-slots", "100001"},
                                             {"--admin", "a b"},
                                             {"--admin", ""},
                                             {"--advertise", "a\nb"}}) {
    const auto parsed = parseDaemonOptions(words);
    ASSERT_TRUE(std::holds_alternative<int>(parsed)) << words.front();
    EXPECT_EQ(std::get<int>(parsed), 2);
  }
  EXPECT_EQ(std::get<int>(parseDaemonOptions({"--version"})), 0);
  EXPECT_EQ(std::get<int>(parseDaemonOptions({"--help"})), 0);
}

}  // namespace
}  // namespace pop::popdistd
