// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/harness/session.h"
#include "tests/testing/process_tree.h"

namespace pop::bench {
namespace {

namespace v1 = ::popdist::v1;

constexpr int kWatchers = 200;
constexpr int kChangesPerSecond = 100;
constexpr int kChanges = 1000;
constexpr int kChangers = 10;
constexpr double kEnoughPerSecond = 95;  // below, others were watched than the goal is about
constexpr std::chrono::milliseconds kLimit{60'000};

struct Moment {
  std::uint64_t revision;
  Clock::time_point at;
};

// One user's view: its own connection, and a thread that reads.
class Watcher {
 public:
  explicit Watcher(const PopCluster& cluster) : client_(cluster) {
    context_.set_wait_for_ready(true);
    stream_ = client_.stub().Watch(&context_, {});
    thread_ = std::thread([this] { read(); });
  }
  ~Watcher() {
    context_.TryCancel();
    thread_.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  bool isReady() const { return ready_; }
  std::uint64_t last() const { return last_; }
  /// After the last change.
  const std::vector<Moment>& seen() const { return seen_; }

 private:
  void read() {
    for (v1::Change change; stream_->Read(&change);) {
      const std::uint64_t revision = change.revision();
      if (ready_) {
        seen_.push_back({revision, Clock::now()});
        last_ = std::max(last_.load(), revision);
      }
      if (change.has_snapshot_ends()) ready_ = true;
    }
  }

  DaemonClient client_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::Change>> stream_;
  std::vector<Moment> seen_;
  std::atomic<bool> ready_ = false;
  std::atomic<std::uint64_t> last_ = 0;
  std::thread thread_;
};

// Held jobs, each cancelled: two changes. A change's moment is before its call. So many clients that none
// waits for the last one's answer while its next change is due.
Result<std::vector<Moment>> makeChanges(const PopCluster& cluster, int count) {
  std::vector<Moment> changes;
  std::mutex mutex;
  const auto work = [&](int changer) -> Status {
    POP_ASSIGN_OR_RETURN(const DaemonClient client, DaemonClient::connectedTo(cluster));
    std::int64_t job = 0;
    const Clock::time_point begin = Clock::now();
    for (int number = 0; number < count / kChangers; ++number) {
      const int due = number * kChangers + changer;
      std::this_thread::sleep_until(begin + due * std::chrono::microseconds(1'000'000 / kChangesPerSecond));
      const Clock::time_point at = Clock::now();
      const Result<v1::JobInfo> info = number % 2 == 0 ? client.submit(heldJob()) : client.cancel(job);
      if (!info.ok()) return info.status();
      job = info.value().id();
      const std::lock_guard lock(mutex);
      changes.push_back({info.value().revision(), at});
    }
    return {};
  };
  POP_RETURN_IF_ERROR(inThreads(kChangers, work));
  std::ranges::sort(changes, {}, &Moment::revision);
  return changes;
}

// A job that changes twice before it is sent is sent once, with its last state: a change has been seen with
// the first revision that is not before it.
std::vector<double> latenciesMs(const std::vector<Moment>& changes, const std::vector<Moment>& seen) {
  std::vector<double> latencies;
  auto at = seen.begin();
  for (const Moment& change : changes) {
    while (at != seen.end() && at->revision < change.revision) ++at;
    if (at == seen.end()) break;
    latencies.push_back(std::chrono::duration<double, std::milli>(at->at - change.at).count());
  }
  return latencies;
}

}  // namespace

DaemonFigures measureWatch(const DaemonOptions& options) {
  PopCluster cluster;
  POP_RETURN_IF_ERROR(cluster.startDaemon(options.programs, options.etcd));
  POP_ASSIGN_OR_RETURN(const DaemonClient client, DaemonClient::connectedTo(cluster));
  const double before_mib = residentMibOf(cluster.daemonPid());
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int watcher = 0; watcher < kWatchers; ++watcher)
    watchers.push_back(std::make_unique<Watcher>(cluster));
  const auto everybody = [&](auto&& condition) {
    return testing::waitUntil([&] { return std::ranges::all_of(watchers, condition); }, kLimit);
  };
  if (!everybody([](const auto& each) { return each->isReady(); }))
    return internalError("watchers have not got their first view after a minute");
  const double cpu_before_s = cpuSecondsOf(cluster.daemonPid());
  const Clock::time_point begin = Clock::now();
  showProgress("watch");
  POP_ASSIGN_OR_RETURN(const std::vector<Moment> changes, makeChanges(cluster, options.calls(kChanges)));
  const double per_s = static_cast<double>(changes.size()) / secondsSince(begin);
  if (!everybody([&](const auto& each) { return each->last() >= changes.back().revision; }))
    return internalError("a watcher has not seen the last change after a minute");
  const double cpu_s = cpuSecondsOf(cluster.daemonPid()) - cpu_before_s;
  const double after_mib = residentMibOf(cluster.daemonPid());
  std::vector<double> latencies_ms;
  for (const auto& watcher : watchers) {
    const std::vector<double> own = latenciesMs(changes, watcher->seen());
    latencies_ms.insert(latencies_ms.end(), own.begin(), own.end());
  }
  const auto figure = [](const char* what, const char* unit, const std::vector<double>& values) {
    return Figure{"watch", kPopdistd, what, unit, summarize(values)};
  };
  std::vector<Figure> figures{figure("200 watchers, change to seen", "ms", latencies_ms),
                              figure("200 watchers, p99", "ms", {quantile(latencies_ms, 0.99)}),
                              figure("changes made", "1/s", {per_s}),
                              figure("CPU time of popdistd per change and watcher", "us",
                                     {cpu_s * 1e6 / static_cast<double>(changes.size()) / kWatchers}),
                              figure("memory without watchers", "MiB", {before_mib}),
                              figure("memory with 200 watchers, after the changes", "MiB", {after_mib})};
  figures[1].is_noisy = per_s < kEnoughPerSecond;
  return figures;
}

}  // namespace pop::bench
