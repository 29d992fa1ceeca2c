// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/daemon/daemon_fixture.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/sys/account_name.h"
#include "tests/testing/free_port.h"

namespace pop::testing {
namespace {

// The jobs' user: `nobody`, if we may.
std::string unixUser() {
  return ::geteuid() == 0 ? "nobody" : sys::accountName(::geteuid()).value_or("");
}

v1::JobRef ref(std::int64_t id) {
  v1::JobRef job;
  job.set_id(id);
  return job;
}

}  // namespace

DaemonTest::DaemonTest(std::string listen, const std::string& name)
    : listen_(std::move(listen)), port_(freePort()) {
  std::filesystem::permissions(path(""), std::filesystem::perms(0711));  // its users pass
  makeCertificates("tls", "--host localhost+127.0.0.1+h0+h1" + (name.empty() ? "" : "+h2+" + name) +
                              " --user alice,bob,root --issuer");
  std::ofstream(path("users")) << "alice = " << unixUser() << "\nbob = " << unixUser() << '\n';
}

void DaemonTest::makeCertificates(const std::string& directory, const std::string& options) const {
  const std::string make =
      POP_BIN_DIR "/popdist-agent init-tls --dir " + path(directory) + ' ' + options + " >/dev/null";
  EXPECT_EQ(std::system(make.c_str()), 0);
  for (const char* const end : {".pem", "-key.pem"})
    std::filesystem::rename(path(directory) + "/host-localhost" + end, path(directory) + "/host" + end);
}

DaemonTest::~DaemonTest() {
  for (auto& [name, process] : processes_) process.signal(SIGTERM);
  for (auto& [name, process] : processes_) process.endsWithin(Milliseconds(15000));
}

void DaemonTest::start(const std::string& name, const std::string& command) {
  startProgram(name, POP_BIN_DIR "/" + command);
}

void DaemonTest::startProgram(const std::string& name, const std::string& command) {
  Result<os::HelperProgram> program = os::HelperProgram::start(
      {"/bin/sh", "-c", "exec " + command + " >>" + path(name + ".log") + " 2>&1 </dev/null"},
      {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  ASSERT_TRUE(program.ok()) << program.status().message();
  processes_[name] = std::move(*program);
}

void DaemonTest::startDaemon(const std::string& http) {
  start("popdistd", "popdistd --http " + http + " --tls " + path("tls") + " --state " + path("state") +
                        " --admin root --advertise localhost --listen " + listen_ + ':' +
                        std::to_string(port_));
  grpc::Status status;
  const bool serves = waitUntil(
      [&] {
        grpc::ClientContext context;
        context.set_wait_for_ready(true);  // gRPC connects only while there is a call
        context.set_deadline(std::chrono::system_clock::now() + kTimeout / 3);
        v1::AboutReply about;
        status = client().About(&context, {}, &about);
        return status.ok();
      },
      kTimeout);
  ASSERT_TRUE(serves) << status.error_message() << '\n' << logOf("popdistd");
}

void DaemonTest::startHost(const std::string& name, int slots) {
  start(name, "popdist-agent serve --listen 127.0.0.1:0 --spares 0 --tls " + path("tls") + " --users " +
                  path("users") + " --controller localhost:" + std::to_string(port_) + " --name " + name +
                  " --slots " + std::to_string(slots) + " --state " + path(name + ".state"));
  waitForHost(name);
}

void DaemonTest::waitForHost(const std::string& name) {
  const bool joins = waitUntil(
      [&] {
        grpc::ClientContext context;
        v1::HostRef host;
        host.set_name(name);
        v1::HostInfo info;
        return client().GetHost(&context, host, &info).ok() && info.state() == v1::HOST_UP;
      },
      kTimeout);
  ASSERT_TRUE(joins) << logOf(name);
}

void DaemonTest::kill(const std::string& process, int signal) {
  ASSERT_GT(pidOf(process), 1);
  processes_.at(process).signal(signal);
  ASSERT_TRUE(processes_.at(process).endsWithin(kTimeout));
  processes_.erase(process);
}

// Other numbers mean many processes.
void DaemonTest::killChild(const std::string& process, const std::string& child) {
  pid_t pid = -1;
  ASSERT_TRUE(waitUntil([&] { return (pid = childNamed(pidOf(process), child)) > 1; }, kTimeout));
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(waitUntil([&] { return childNamed(pidOf(process), child) != pid; }, kTimeout));
}

// The directory of the job is an argument of its runner.
pid_t DaemonTest::runnerOf(std::int64_t job) const {
  const std::string part = '/' + std::to_string(job) + '.';
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = fileText(entry.path() / "cmdline");
    if (line.find("popdist-runner") != std::string::npos &&
        line.find(directory_.path()) != std::string::npos && line.find(part) != std::string::npos)
      return std::stoi(name);
  }
  return 0;
}

std::shared_ptr<grpc::Channel> DaemonTest::channel(const std::string& user) {
  std::shared_ptr<grpc::Channel>& channel = channels_[user];
  if (channel == nullptr) {
    const grpc::SslCredentialsOptions tls{.pem_root_certs = fileText(path("tls/ca.pem")),
                                          .pem_private_key = fileText(path("tls/user-" + user + "-key.pem")),
                                          .pem_cert_chain = fileText(path("tls/user-" + user + ".pem"))};
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // the time limit of connecting
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    channel =
        grpc::CreateCustomChannel("localhost:" + std::to_string(port_), grpc::SslCredentials(tls), arguments);
  }
  return channel;
}

v1::Controller::Stub& DaemonTest::client(const std::string& user) {
  std::unique_ptr<v1::Controller::Stub>& stub = clients_[user];
  if (stub == nullptr) stub = v1::Controller::NewStub(channel(user));
  return *stub;
}

v1::SubmitRequest DaemonTest::shell(const std::string& script, int num_instances) {
  v1::SubmitRequest request;
  v1::Program& program = *request.mutable_spec()->add_programs();
  for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script}) program.add_words(word);
  program.set_num_instances(num_instances);
  program.set_working_directory("/");
  return request;
}

std::int64_t DaemonTest::submit(const v1::SubmitRequest& request) {
  grpc::ClientContext context;
  v1::SubmitReply reply;
  const grpc::Status status = client().Submit(&context, request, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return reply.job().id();
}

v1::JobInfo DaemonTest::job(std::int64_t id) {
  v1::JobInfo info;
  waitUntil(
      [&] {
        grpc::ClientContext context;
        return client().Get(&context, ref(id), &info).ok();
      },
      kTimeout);
  return info;
}

v1::JobInfo DaemonTest::waitForState(std::int64_t id, v1::JobState state) {
  v1::JobInfo info;
  EXPECT_TRUE(waitUntil(
      [&] {
        info = job(id);
        return info.state() >= state;
      },
      kTimeout))
      << info.ShortDebugString() << logOf("popdistd");
  return info;
}

v1::JobInfo DaemonTest::waitForEnd(std::int64_t id) {
  return waitForState(id, v1::JOB_ENDED);
}

grpc::Status DaemonTest::cancel(std::int64_t id, const std::string& user) {
  grpc::ClientContext context;
  v1::CancelRequest request;
  *request.mutable_job() = ref(id);
  v1::JobInfo info;
  return client(user).Cancel(&context, request, &info);
}

void DaemonTest::readLog(std::int64_t id, bool follow, Log& log, const std::string& user) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kTimeout);
  v1::LogsRequest request;
  *request.mutable_job() = ref(id);
  request.set_follow(follow);
  request.set_from_sequence(log.sequences.empty() ? 1 : log.sequences.back() + 1);
  const auto stream = client(user).Logs(&context, request);
  v1::Record record;
  while (stream->Read(&record)) {
    log.sequences.push_back(record.sequence());
    log.text += record.output().text();
    if (record.event().has_outcome()) log.outcome = record.event().outcome();
  }
  log.status = stream->Finish();
}

DaemonTest::Log DaemonTest::wholeLog(std::int64_t id) {
  Log log;
  waitUntil(
      [&] {
        readLog(id, true, log);
        return log.status.ok();
      },
      kTimeout);
  return log;
}

}  // namespace pop::testing
