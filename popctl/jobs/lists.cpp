// SPDX-License-Identifier: Apache-2.0
// The lists of jobs and hosts, once or as they change, and `top`.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "popctl/commands.h"
#include "popctl/jobs/follow.h"
#include "popctl/jobs/overview.h"
#include "popctl/jobs/tables.h"
#include "popctl/report.h"
#include "popctl/server_of.h"

namespace pop::popctl {
namespace {

using WallClock = std::chrono::system_clock;
using Draw = std::function<std::string(const Overview&)>;

constexpr int kPageSize = 1000;
constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr std::chrono::seconds kRedraw{1};  // the times that jobs have taken change, too
constexpr const char* kClear = "\x1b[H\x1b[J";

v1::ListJobsRequest requestOf(const JobFilter& filter) {
  v1::ListJobsRequest request;
  request.set_user(filter.user);
  for (const v1::JobState state : filter.states) request.add_states(state);
  request.set_name(filter.name);
  request.set_host(filter.host);
  return request;
}

// Pages until there are `limit`; then next_page_token says whether there are more.
Result<v1::ListJobsReply> allJobs(ControllerClient& client, const JobFilter& filter, int limit) {
  v1::ListJobsRequest request = requestOf(filter);
  v1::ListJobsReply all;
  do {
    const int missing = limit == 0 ? kPageSize : limit - all.jobs_size();
    request.set_page_size(std::min(missing, kPageSize));
    POP_ASSIGN_OR_RETURN(const v1::ListJobsReply page, client.list(request));
    for (const v1::JobInfo& job : page.jobs()) *all.add_jobs() = job;
    all.set_revision(page.revision());
    all.set_next_page_token(page.next_page_token());
    request.set_page_token(page.next_page_token());
  } while (!all.next_page_token().empty() && (limit == 0 || all.jobs_size() < limit));
  return all;
}

std::vector<v1::JobInfo> vectorOf(const v1::ListJobsReply& reply) {
  return {reply.jobs().begin(), reply.jobs().end()};
}
std::vector<v1::HostInfo> vectorOf(const v1::ListHostsReply& reply) {
  return {reply.hosts().begin(), reply.hosts().end()};
}

// For a --timeout that was given; else without end.
Until watchedUntil(const Command& command) {
  if (!command.common.timeout_s) return std::nullopt;
  return std::chrono::system_clock::now() + timeoutOf(command);
}

int printChanges(const Command& command, ControllerClient& client,
                 const std::function<bool(const v1::Change&)>& wanted) {
  int printed = 0;
  bool is_answered = false;
  const auto print = [&](const v1::Change& change) {
    is_answered = true;
    if (wanted(change)) printed = printJson(change);
    return printed == 0;
  };
  const Status how = followChanges(client, print, watchedUntil(command));
  const bool is_over = how.code() == Code::kDeadlineExceeded && is_answered;
  return how.ok() || is_over ? printed : failed(command, how);
}

// Draws what a thread that follows changes has learnt.
class Screen {
 public:
  Screen(ControllerClient& client, Until until, Draw draw)
      : draw_(std::move(draw)), thread_([this, &client, until] { follow(client, until); }) {}
  ~Screen() { thread_.join(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Why it ends; well at a time that was given, if there was something to draw.
  Status run() {
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    std::unique_lock lock(mutex_);
    while (true) {
      const auto has_news = [this] { return changed_ || end_.has_value(); };
      terminal ? news_.wait_for(lock, kRedraw, has_news) : (news_.wait(lock, has_news), true);
      if (end_) return end_->code() == Code::kDeadlineExceeded && overview_.isWhole() ? Status() : *end_;
      if (!overview_.isWhole()) continue;
      changed_ = false;
      const std::string text = draw_(overview_);
      lock.unlock();
      show(text, terminal);
      std::this_thread::sleep_for(kBetweenDraws);
      lock.lock();
    }
  }

 private:
  void follow(ControllerClient& client, Until until) {
    const auto apply = [this](const v1::Change& change) {
      const std::scoped_lock lock(mutex_);
      overview_.apply(change);
      changed_ = overview_.isWhole();
      if (changed_) news_.notify_all();
      return true;
    };
    const Status how = followChanges(client, apply, until);
    const std::scoped_lock lock(mutex_);
    end_ = how;
    news_.notify_all();
  }

  void show(const std::string& text, bool terminal) {
    if (!terminal && text == shown_) return;
    const std::string before = terminal ? kClear : shown_.empty() ? "" : "\n";
    static_cast<void>(printText(before + text));
    shown_ = text;
  }

  const Draw draw_;
  std::mutex mutex_;
  std::condition_variable news_;
  Overview overview_;
  bool changed_ = false;
  std::optional<Status> end_;
  std::string shown_;
  std::thread thread_;
};

int watch(const Command& command, ControllerClient& client, const Draw& draw) {
  const Status how = Screen(client, watchedUntil(command), draw).run();
  return how.ok() ? 0 : failed(command, how);
}

// As many lines as the terminal has.
std::string fitted(const std::string& text) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) return text;
  std::size_t end = 0;
  for (int line = 1; line < size.ws_row && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

std::string topText(const std::string& server, const std::vector<v1::JobInfo>& jobs,
                    const std::vector<v1::HostInfo>& hosts) {
  const WallTime now = WallClock::now();
  return "popdistd at " + server + ", " + localTime(now) + ": " + countsText(jobs, hosts) + "\n\n" +
         hostsTable(hosts, now) + '\n' + jobsTable(forTop(jobs), now);
}

}  // namespace

int listJobs(const Command& command, ControllerClient& client) {
  if (command.watch && command.common.json) {
    return printChanges(command, client, [&command](const v1::Change& change) {
      return change.has_job() ? matches(change.job(), command.filter)
                              : !change.has_host() && change.body_case() != v1::Change::kHostRemoved;
    });
  }
  if (command.watch) {
    return watch(command, client, [&command](const Overview& overview) {
      std::vector<v1::JobInfo> jobs = overview.jobs(command.filter);
      if (command.limit > 0) jobs.resize(std::min(jobs.size(), static_cast<std::size_t>(command.limit)));
      return jobsTable(jobs, WallClock::now());
    });
  }
  const Result<v1::ListJobsReply> reply = allJobs(client, command.filter, command.limit);
  if (!reply.ok()) return failed(command, reply.status());
  if (command.common.json) return printJson(reply.value());
  const int printed = printText(jobsTable(vectorOf(reply.value()), WallClock::now()));
  if (!reply.value().next_page_token().empty())
    std::fprintf(stderr, "popctl: there are more jobs (--limit %d)\n", command.limit);
  return printed;
}

int listHosts(const Command& command, ControllerClient& client) {
  if (command.watch && command.common.json) {
    return printChanges(command, client, [](const v1::Change& change) {
      return !change.has_job() && change.body_case() != v1::Change::kJobForgotten;
    });
  }
  if (command.watch) {
    return watch(command, client,
                 [](const Overview& overview) { return hostsTable(overview.hosts(), WallClock::now()); });
  }
  const Result<v1::ListHostsReply> reply = client.allHosts();
  if (!reply.ok()) return failed(command, reply.status());
  if (command.common.json) return printJson(reply.value());
  return printText(hostsTable(vectorOf(reply.value()), WallClock::now()));
}

int top(const Command& command, ControllerClient& client) {
  const std::string server = client.server().address;
  if (::isatty(STDOUT_FILENO) == 1) {
    return watch(command, client, [&server](const Overview& overview) {
      return fitted(topText(server, overview.jobs({}), overview.hosts()));
    });
  }
  const Result<v1::ListHostsReply> hosts = client.allHosts();
  if (!hosts.ok()) return failed(command, hosts.status());
  const Result<v1::ListJobsReply> jobs = allJobs(client, {}, kPageSize);
  if (!jobs.ok()) return failed(command, jobs.status());
  return printText(topText(server, vectorOf(jobs.value()), vectorOf(hosts.value())));
}

}  // namespace pop::popctl
