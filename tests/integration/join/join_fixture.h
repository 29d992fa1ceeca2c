// SPDX-License-Identifier: Apache-2.0
// Agent services of this machine that join a popdistd of the test's own, with certificates by init-tls.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/os/helper_program.h"
#include "proto/popdist/v1/job.pb.h"
#include "tests/integration/join/fake_popdistd.h"
#include "tests/testing/file_text.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

inline constexpr Milliseconds kTimeout{20000};

class JoinTest : public ::testing::Test {
 protected:
  JoinTest() {
    std::filesystem::permissions(path(""), std::filesystem::perms(0711));  // its users pass
    makeCertificates("tls");
    writeUsers("alice = " + unixUser() + "\nbob = " + unixUser() + " jobs=1\n");
  }

  ~JoinTest() override {
    for (auto& [name, service] : services_) static_cast<void>(service.program.signal(SIGKILL));
  }

  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }

  /// The jobs' user: `nobody`, if we may.
  static std::string unixUser() { return ::geteuid() == 0 ? "nobody" : output("id -un"); }

  static std::string output(const std::string& command) {
    std::string text;
    FILE* const pipe = ::popen(command.c_str(), "r");
    for (int next = 0; (next = std::fgetc(pipe)) != EOF;) text += static_cast<char>(next);
    ::pclose(pipe);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  void makeCertificates(const std::string& name, const std::string& popdistd = "localhost+127.0.0.1") const {
    const std::string command = POP_BIN_DIR "/popdist-agent init-tls --dir " + path(name) +
                                " --host h0+127.0.0.1,h1," + popdistd + " --user alice >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  void writeUsers(const std::string& text) const { std::ofstream(path("users")) << text; }

  /// popdistd with the certificate of "localhost" from there.
  std::unique_ptr<FakePopdistd> popdistd(FakePopdistdSetup setup = {}, const std::string& tls = "tls",
                                         const std::string& pair = "host-localhost") const {
    setup.authority = fileText(path(tls + "/ca.pem"));
    setup.certificate = fileText(path(tls + '/' + pair + ".pem"));
    setup.key = fileText(path(tls + '/' + pair + "-key.pem"));
    auto made = std::make_unique<FakePopdistd>(std::move(setup));
    EXPECT_NE(made->port(), 0);
    return made;
  }

  /// Fills and returns a host's directory for --tls.
  std::string install(const std::string& name, const std::string& from = "tls") const {
    const std::string there = path(name + ".tls");
    std::filesystem::create_directories(there);
    const auto copy = [&](const std::string& file, const std::string& as) {
      std::filesystem::copy_file(path(from + '/' + file), there + '/' + as,
                                 std::filesystem::copy_options::overwrite_existing);
    };
    copy("ca.pem", "ca.pem");
    copy("host-" + name + ".pem", "host.pem");
    copy("host-" + name + "-key.pem", "host-key.pem");
    return there;
  }

  std::string tlsOptions(const std::string& name) const {
    return " --tls " + install(name) + " --users " + path("users");
  }

  /// The agent service of the host `name`. `prefix`: what runs it, as "setpriv … ".
  void serve(const std::string& name, int controller, const std::string& options,
             const std::string& prefix = "") {
    const std::string command =
        "exec " + prefix + POP_BIN_DIR "/popdist-agent serve --listen 127.0.0.1:0 --spares 0" + options +
        " --controller 127.0.0.1:" + std::to_string(controller) + other_controllers_ + " --name " + name +
        " --slots 3 --state " + path(name + ".state") + " --runner-program " POP_FAKE_RUNNER_PATH " >" +
        path(name + ".log") + " 2>&1 </dev/null";
    Result<os::HelperProgram> program =
        os::HelperProgram::start({"/bin/sh", "-c", command}, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    ASSERT_TRUE(program.ok()) << program.status().message();
    services_[name].program = std::move(*program);
  }
  void serve(const std::string& name, const FakePopdistd& controller) {
    serve(name, controller.port(), tlsOptions(name));
  }

  pid_t pidOf(const std::string& name) const { return services_.at(name).program.pid(); }
  pid_t joinOf(const std::string& name) const { return childNamed(pidOf(name), "popdist-join"); }
  void signal(const std::string& name, int number) const {
    ASSERT_GT(pidOf(name), 1);
    ::kill(pidOf(name), number);
  }
  bool hasEnded(const std::string& name) const { return services_.at(name).program.endsWithin(kTimeout); }

  /// Kills one process, whatever has gone wrong before: other numbers mean many.
  static void killOne(pid_t pid) {
    ASSERT_GT(pid, 1);
    ::kill(pid, SIGKILL);
  }

  std::string logOf(const std::string& name) const { return fileText(path(name + ".log")); }
  bool waitForLog(const std::string& name, const std::string& text) const {
    return waitUntil([&] { return logOf(name).find(text) != std::string::npos; }, kTimeout);
  }

  static v1::RunnerKey key(std::int64_t job, std::int32_t attempt = 1) {
    v1::RunnerKey made;
    made.set_job(job);
    made.set_attempt(attempt);
    return made;
  }

  static v1::HostOrder startOrder(std::int64_t job, const std::string& how = "wait",
                                  const std::string& user = "alice") {
    v1::JobSpec spec;
    spec.add_programs()->add_words(how);
    v1::HostOrder order;
    *order.mutable_start()->mutable_key() = key(job);
    order.mutable_start()->set_user(user);
    order.mutable_start()->set_spec(spec.SerializeAsString());
    return order;
  }

  static v1::HostOrder orderOf(std::int64_t job, v1::RunnerOrder order) {
    v1::HostOrder made;
    *made.mutable_runner()->mutable_key() = key(job);
    *made.mutable_runner()->mutable_order() = std::move(order);
    return made;
  }
  static v1::HostOrder follow(std::int64_t job, std::int64_t bytes) {
    v1::RunnerOrder order;
    order.mutable_follow()->set_credit_bytes(bytes);
    return orderOf(job, std::move(order));
  }

  v1::HostJoins joins(FakePopdistd& popdistd, const std::string& host) const {
    const auto report = popdistd.next(host, [](const auto& each) { return each.has_joins(); });
    EXPECT_TRUE(report.has_value()) << logOf(host);
    return report ? report->joins() : v1::HostJoins();
  }
  v1::RunnerStarted started(FakePopdistd& popdistd, const std::string& host, std::int64_t job) const {
    const auto report =
        popdistd.next(host, [job](const auto& each) { return each.started().key().job() == job; });
    EXPECT_TRUE(report.has_value()) << logOf(host);
    return report ? report->started() : v1::RunnerStarted();
  }
  v1::RunnerRefused refused(FakePopdistd& popdistd, const std::string& host, std::int64_t job) const {
    const auto report =
        popdistd.next(host, [job](const auto& each) { return each.refused().key().job() == job; });
    EXPECT_TRUE(report.has_value()) << logOf(host);
    return report ? report->refused() : v1::RunnerRefused();
  }
  std::string gone(FakePopdistd& popdistd, const std::string& host, std::int64_t job) const {
    const auto report =
        popdistd.next(host, [job](const auto& each) { return each.gone().key().job() == job; });
    EXPECT_TRUE(report.has_value()) << logOf(host);
    return report ? report->gone().why() : "";
  }

  std::string directoryOf(const std::string& host, std::int64_t job) const {
    return path(host + ".state/jobs/c1/" + std::to_string(job) + ".1");
  }

  /// In memory, without what is shared with others: kB of /proc/PID/status.
  static long residentKb(pid_t pid) {
    const std::string text = fileText("/proc/" + std::to_string(pid) + "/status");
    const std::size_t at = text.find("RssAnon:");
    return at == std::string::npos ? -1 : std::atol(text.c_str() + at + 8);
  }

  std::string other_controllers_;  ///< ",127.0.0.1:PORT": besides the one that serve() gets

 private:
  struct Service {
    os::HelperProgram program;
  };

  TempDir directory_;
  std::map<std::string, Service> services_;
};

}  // namespace pop::testing
