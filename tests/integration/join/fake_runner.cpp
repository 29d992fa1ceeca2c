// SPDX-License-Identifier: Apache-2.0
// A runner as the agent service sees it, which does what the first word of the job's program says:
//
//   wait      says that it is there, and does what it is told
//   fail      cannot start
//   leave     the same, when it has made a file
//   exit      ends soon after its start
//   noise     says that it is there, and then nothing that can be understood
//   long      says that it is there, and then more than may be said at once
//
// Follow makes it send records of `credit_bytes` together.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/host.pb.h"
#include "proto/popdist/v1/job.pb.h"

namespace {

namespace v1 = ::popdist::v1;

constexpr std::size_t kRecordBytes = 256 << 10;
constexpr std::size_t kMaxUnsentBytes = 1 << 20;

class FakeRunner {
 public:
  explicit FakeRunner(std::string directory)
      : directory_(std::move(directory)),
        stream_(loop_, pop::sys::Fd(STDIN_FILENO), pop::sys::Fd(),
                {.message = [this](const std::string& message) { take(message); },
                 .ended = [](const pop::Status&) { ::_exit(0); },
                 .written = [this] { sendMore(); }}) {}

  void run() { loop_.run(); }

 private:
  [[noreturn]] void exit(int code) {
    stream_.flush(std::chrono::seconds(10));
    ::_exit(code);
  }

  void take(const std::string& message) {
    if (std::exchange(has_begun_, true)) return obey(message);
    v1::HostOrder order;
    if (!order.ParseFromString(message)) exit(9);
    if (order.has_remove()) remove();
    if (order.has_feed()) return feed();
    v1::JobSpec spec;
    if (!order.has_start() || !spec.ParseFromString(order.start().spec())) exit(9);
    start(spec.programs(0).words(0));
  }

  void start(const std::string& how) {
    if (how == "fail") {
      std::fputs("no space left\non the disk\n", stderr);
      exit(125);
    }
    std::ofstream(directory_ + "/records") << how;
    if (how == "leave") exit(125);
    sayUp(false);
    if (how == "exit") exit(7);
    if (how == "noise") stream_.send(std::string(1000, '\xff'));
    if (how == "long") stream_.send(std::string(3 << 20, 'x'));
  }

  void feed() {
    if (!std::filesystem::exists(directory_ + "/records")) exit(3);
    sayUp(true);
  }

  [[noreturn]] void remove() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_))
      std::filesystem::remove_all(entry.path());
    exit(0);
  }

  void sayUp(bool is_feeder) {
    v1::RunnerReport report;
    report.mutable_up()->set_is_feeder(is_feeder);
    report.mutable_up()->set_last_sequence(5);
    stream_.send(report);
  }

  void obey(const std::string& message) {
    v1::RunnerOrder order;
    if (!order.ParseFromString(message)) exit(9);
    if (order.has_retire()) exit(0);
    if (order.body_case() == v1::RunnerOrder::kStop) exit(4);
    if (order.body_case() == v1::RunnerOrder::kSignal) {
      v1::RunnerReport report;
      report.mutable_end()->set_stream(order.signal());
      stream_.send(report);
    }
    if (order.has_follow()) left_ += static_cast<std::size_t>(order.follow().credit_bytes());
    sendMore();
  }

  void sendMore() {
    for (; left_ > 0 && stream_.unsentBytes() < kMaxUnsentBytes; left_ -= std::min(left_, kRecordBytes)) {
      v1::RunnerReport report;
      report.mutable_records()->add_records()->set_bytes(std::string(std::min(left_, kRecordBytes), 'r'));
      stream_.send(report);
    }
  }

  const std::string directory_;
  pop::os::EpollLoop loop_;
  pop::wire::MessageStream stream_;
  bool has_begun_ = false;
  std::size_t left_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "--directory") return 9;
  if (!pop::sys::setNonBlocking(STDIN_FILENO).ok()) return 9;
  FakeRunner(argv[2]).run();
}
