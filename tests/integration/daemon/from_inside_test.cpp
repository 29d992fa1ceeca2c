// SPDX-License-Identifier: Apache-2.0
// Attacks by code in a job: with everything that its runner has, which is of the same user, and with
// certificates that the jobs' issuer could sign.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

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

// Leaves a process in a session of its own, whose parents end, and, once the file `go` is there, does `what`
// to its runner and keeper, and to the agent service.
std::string attackOn(const std::string& mark, const std::string& go, const std::string& what) {
  return "(setsid sh -c 'trap \"\" HUP TERM INT; sleep " + mark + " & sleep " + mark + "' &) ; sleep " +
         mark + " & pids=; pid=$PPID; while [ \"$pid\" -gt 1 ]; do pids=\"$pids $pid\"; " +
         "case $(cat /proc/$pid/comm) in popdist-agent*) break;; esac; pid=$(sed -n 's/^PPid:\t//p' "
         "/proc/$pid/status); " +
         "done; until [ -e " + go + " ]; do sleep 0.01; done; " + what;
}

class FromInside : public DaemonTest {
 protected:
  // Processes whose command line has it.
  static std::size_t countOf(const std::string& mark) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") == std::string::npos &&
          fileText(entry.path() / "cmdline").find(mark) != std::string::npos)
        ++count;
    }
    return count;
  }

  // Runs it where there is one slot; nothing is left of it when it has ended, and then the next job gets the
  // slot. It attacks once all its processes have been seen and the next job waits.
  v1::JobInfo attack(const std::string& mark, const std::string& what,
                     const std::function<void(std::int64_t id)>& then = nullptr,
                     std::int64_t timeout_ms = 0) {
    startDaemon();
    startHost("h0", 1);
    v1::SubmitRequest request = shell(attackOn(mark, path("go"), what));
    request.mutable_spec()->set_timeout_ms(timeout_ms);
    const std::int64_t id = submit(request);
    const std::string sleep = std::string("sleep\0", 6) + mark + '\0';
    EXPECT_TRUE(waitUntil([&] { return countOf(sleep) == 3; }, kTimeout)) << "its processes run";
    const std::int64_t next =
        submit(shell("pgrep -f 'sleep " + mark.substr(0, 3) + "[.]' || echo none is left"));
    std::ofstream(path("go")) << "";
    if (then) then(id);
    v1::JobInfo ended = waitForEnd(id);
    EXPECT_EQ(countOf(mark), 0U);
    EXPECT_EQ(waitForEnd(next).end(), v1::END_SUCCEEDED);
    EXPECT_THAT(wholeLog(next).text, HasSubstr("none is left"));
    return ended;
  }

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

TEST_F(FromInside, NothingIsLeftOfAJobThatKillsItsKeeperAndRunner) {
  EXPECT_EQ(attack("611.5", "kill -STOP $pids; kill -KILL $pids; wait").end(), v1::END_FAILED);
}

// Again and again: each time it is made to go on.
TEST_F(FromInside, AJobThatStopsItsRunnerIsCancelled) {
  const auto cancelTwice = [this](std::int64_t id) {
    for (int times = 0; times < 2; ++times) EXPECT_TRUE(cancel(id).ok());
  };
  EXPECT_EQ(attack("612.5", "while :; do kill -STOP $pids; done", cancelTwice).end(), v1::END_CANCELLED);
}

TEST_F(FromInside, AJobThatStopsItsRunnerHasItsTimeout) {
  EXPECT_EQ(attack("613.5", "set -- $pids; kill -STOP $2; wait", nullptr, 4000).end(), v1::END_TIMED_OUT);
}

TEST_F(FromInside, NothingIsLeftOfAJobThatEndsWithProcessesInOtherSessions) {
  EXPECT_EQ(attack("614.5", "exit 3").end(), v1::END_FAILED);
}

// They start others without end while all that could end them is killed.
TEST_F(FromInside, NothingIsLeftOfAJobThatForksWithoutEnd) {
  EXPECT_EQ(attack("615.5",
                   "forks=0; while :; do (setsid sleep 615.5 &); forks=$((forks + 1)); "
                   "[ $forks -ne 50 ] || (setsid sh -c \"kill -KILL $pids\" &); done")
                .end(),
            v1::END_FAILED);
}

// Root there, in new namespaces of all kinds. It ends once its fifth sleep runs, which begins after all
// tries.
TEST_F(FromInside, NothingIsLeftOfAJobInNamespacesOfItsOwn) {
  const std::string in_namespaces =
      "unshare --user --map-root-user --mount --pid --fork --cgroup sh -c '"
      "mount -t cgroup2 none /mnt && cd /mnt && echo mounted; "
      "echo 0 >cgroup.procs && echo moved; mkdir mine && echo made; echo 1 >cgroup.freeze && echo frozen; "
      "setsid sleep 616.5 & sleep 616.5' & "
      "while [ $(pgrep -xcf 'sleep 616[.]5') -lt 5 ]; do :; done; exit 3";
  const v1::JobInfo ended = attack("616.5", in_namespaces);
  EXPECT_EQ(ended.end(), v1::END_FAILED);
  const std::string text = wholeLog(ended.id()).text;
  EXPECT_THAT(text, HasSubstr("mounted"));
  for (const char* what : {"moved", "made", "frozen"}) EXPECT_THAT(text, Not(HasSubstr(what)));
}

// The cgroup's files are root's.
TEST_F(FromInside, AJobCannotLeaveItsCgroup) {
  startDaemon();
  startHost("h0");
  if (logOf("h0").find("no cgroups") != std::string::npos) GTEST_SKIP() << logOf("h0");
  const std::int64_t id =
      submit(shell("own=$(sed -n 's/^0:://p' /proc/self/cgroup); root=$(awk '$0 ~ / - cgroup2 / {print $5}' "
                   "/proc/self/mountinfo); "
                   "echo in $own; for to in $root $root$own $root$own/..; do "
                   "(echo $$ >$to/cgroup.procs) 2>/dev/null && echo moved to $to; mkdir $to/mine 2>/dev/null "
                   "&& echo made in $to; "
                   "done; (echo 0 >$root$own/cgroup.kill) 2>/dev/null && echo may kill; echo done"));
  EXPECT_EQ(waitForEnd(id).end(), v1::END_SUCCEEDED);
  const std::string text = wholeLog(id).text;
  EXPECT_THAT(text, AllOf(HasSubstr("/popdist-agent-"), HasSubstr("done")));
  for (const char* what : {"moved", "made", "may kill"}) EXPECT_THAT(text, Not(HasSubstr(what)));
}

}  // namespace
}  // namespace pop::testing
