// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/tables.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "common/base/text.h"
#include "popctl/access/access_tables.h"
#include "popctl/jobs/states.h"
#include "poprun/cli/shell_words.h"

namespace pop::popctl {
namespace {

using Row = std::vector<std::string>;
using Fields = std::vector<std::pair<std::string, std::string>>;

const Row kJobTitles{"ID", "NAME", "USER", "STATE", "EXIT", "HOSTS", "SUBMITTED", "TOOK", "PROGRAM"};
constexpr std::size_t kToDay = 10;      // of "2026-04-05 17:04:03"
constexpr std::size_t kToMinutes = 16;  // likewise

const Row kHostTitles{"NAME", "STATE", "JOBS", "INSTANCES", "SLOTS", "CORES", "VERSION", "HEARD", "WHY NOT"};

template <typename Timestamp>
WallTime timeOf(const Timestamp& from) {
  return WallTime(std::chrono::seconds(from.seconds()));
}

template <typename Strings>
Row wordsOf(const Strings& strings) {
  Row words;
  for (const std::string& each : strings) words.push_back(printable(each));
  return words;
}

// "h0", "h0,h1", "h0 and 7 more"
std::string hostsText(const v1::JobInfo& job) {
  if (job.hosts().empty()) return "-";
  if (job.hosts_size() <= 2) return join(wordsOf(job.hosts()), ",");
  return printable(job.hosts(0)) + " and " + std::to_string(job.hosts_size() - 1) + " more";
}

std::string programText(const v1::JobInfo& job) {
  return job.command().empty() ? "?"
                               : printable(cli::quoteShell(Row(job.command().begin(), job.command().end())));
}

std::string took(const v1::JobInfo& job, WallTime now) {
  if (!job.has_started()) return "-";
  const bool ended = job.state() == v1::JOB_ENDED;
  if (ended && !job.has_ended()) return "-";
  return tookText((ended ? timeOf(job.ended()) : now) - timeOf(job.started()));
}

// "expected 14:20", with the day if that is another one.
std::string expectedText(const v1::JobInfo& job, WallTime now) {
  if (!job.has_expected_start()) return "";
  const std::string at = localTime(timeOf(job.expected_start())).substr(0, kToMinutes);
  const bool is_today = at.substr(0, kToDay) == localTime(now).substr(0, kToDay);
  return "expected " + (is_today ? at.substr(kToDay + 1) : at);
}

std::string waitsText(const v1::JobInfo& job, WallTime now) {
  if (!waits(job)) return "-";
  const std::string expected = expectedText(job, now);
  return orDash(job.reason()) + (expected.empty() ? "" : "; " + expected);
}

Row rowOf(const v1::JobInfo& job, WallTime now) {
  return {std::to_string(job.id()),
          orDash(job.name()),
          orDash(job.user()),
          stateText(job),
          job.has_outcome() ? std::to_string(job.outcome().exit_code()) : "-",
          hostsText(job),
          localTime(timeOf(job.submitted())),
          took(job, now),
          programText(job)};
}

std::string heard(const v1::HostInfo& host, WallTime now) {
  return host.has_last_heard() ? tookText(now - timeOf(host.last_heard())) : "-";
}

std::string whyNot(const v1::HostInfo& host) {
  if (host.drained())
    return "drained by " + printable(host.drained_by()) + ": " + printable(host.drain_reason());
  return orDash(host.not_schedulable());
}

// "64 of 100000": the rest is not believed.
std::string slotsText(const v1::HostInfo& host) {
  const std::string said = host.slots_said() == 0 ? "" : " of " + std::to_string(host.slots_said());
  return std::to_string(host.slots()) + said;
}

Row rowOf(const v1::HostInfo& host, WallTime now) {
  return {orDash(host.name()),
          stateText(host),
          std::to_string(host.jobs_running()),
          std::to_string(host.instances_running()),
          slotsText(host),
          std::to_string(host.num_cores()),
          orDash(host.version()),
          heard(host, now),
          whyNot(host)};
}

// "state: running", without what is empty.
std::string textOf(const Fields& fields) {
  std::size_t width = 0;
  for (const auto& [name, value] : fields) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : fields) {
    if (!value.empty()) text += name + ':' + std::string(width - name.size() + 1, ' ') + value + '\n';
  }
  return text;
}

template <typename Timestamp>
std::string timeText(bool is_there, const Timestamp& time) {
  return is_there ? localTime(timeOf(time)) : "";
}

// "loss 0.25 (mean of 4 instances)"
std::string valueText(const v1::JobValue& value) {
  const char* const fold = value.fold() == v1::FOLD_MEAN  ? "mean"
                           : value.fold() == v1::FOLD_MAX ? "max"
                                                          : "sum";
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.6g", value.value());
  return printable(value.name()) + ' ' + number.data() +
         (value.instances() == 1
              ? ""
              : std::string(" (") + fold + " of " + counted(value.instances(), "instance") + ')');
}

std::string valuesText(const v1::JobInfo& job) {
  std::vector<std::string> texts;
  for (const v1::JobValue& each : job.values()) texts.push_back(valueText(each));
  return join(texts, "; ");
}

}  // namespace

std::string jobsTable(const std::vector<v1::JobInfo>& jobs, WallTime now) {
  if (jobs.empty()) return "no jobs\n";
  std::vector<Row> rows{kJobTitles};
  for (const v1::JobInfo& job : jobs) rows.push_back(rowOf(job, now));
  if (std::any_of(jobs.begin(), jobs.end(), waits)) {
    rows.front().insert(std::prev(rows.front().end()), "WAITS BECAUSE");
    for (std::size_t i = 0; i < jobs.size(); ++i)
      rows[i + 1].insert(std::prev(rows[i + 1].end()), waitsText(jobs[i], now));
  }
  return textTable(rows);
}

std::string hostsTable(const std::vector<v1::HostInfo>& hosts, WallTime now) {
  if (hosts.empty()) return "no hosts have joined\n";
  std::vector<Row> rows{kHostTitles};
  for (const v1::HostInfo& host : hosts) rows.push_back(rowOf(host, now));
  return textTable(rows);
}

std::string jobText(const v1::JobInfo& job, WallTime now) {
  return textOf({{"id", std::to_string(job.id())},
                 {"name", printable(job.name())},
                 {"user", printable(job.user())},
                 {"state", stateText(job)},
                 {waits(job) ? "waits because" : "reason", printable(job.reason())},
                 {"starts", expectedText(job, now)},
                 {"conditions", join(wordsOf(job.conditions()), "; ")},
                 {"exit code", job.has_outcome() ? std::to_string(job.outcome().exit_code()) : ""},
                 {"program", programText(job)},
                 {"instances", std::to_string(job.num_instances())},
                 {"running", waits(job) ? "" : std::to_string(job.instances_running())},
                 {"reports", valuesText(job)},
                 {"hosts", join(wordsOf(job.hosts()), ",")},
                 {"allocation", printable(job.allocation())},
                 {"partition", printable(job.partition())},
                 {"priority", job.priority() == 0 ? "" : std::to_string(job.priority())},
                 {"restarts", job.restarts() == 0 ? "" : std::to_string(job.restarts())},
                 {"submitted", timeText(job.has_submitted(), job.submitted())},
                 {"started", timeText(job.has_started(), job.started())},
                 {"ended", timeText(job.has_ended(), job.ended())},
                 {"took", job.has_started() ? took(job, now) : ""},
                 {"last record", job.last_sequence() == 0 ? "" : std::to_string(job.last_sequence())}});
}

std::string hostText(const v1::HostInfo& host, WallTime now) {
  return textOf(
      {{"name", printable(host.name())},
       {"state", stateText(host)},
       {"last heard", host.has_last_heard() ? heard(host, now) + " ago" : ""},
       {"no jobs because", printable(host.not_schedulable())},
       {"drained by", printable(host.drained_by())},
       {"drained at", timeText(host.has_drained_at(), host.drained_at())},
       {"drain reason", printable(host.drain_reason())},
       {"address", printable(host.address())},
       {"version", printable(host.version())},
       {"cores", std::to_string(host.num_cores())},
       {"memory nodes", std::to_string(host.num_memory_nodes())},
       {"memory", sizeText(host.memory_bytes())},
       {"slots", slotsText(host)},
       {"jobs", std::to_string(host.jobs_running())},
       {"instances", std::to_string(host.instances_running())},
       {"clock ahead", host.clock_ahead_ms() == 0 ? "" : std::to_string(host.clock_ahead_ms()) + " ms"}});
}

std::string aboutText(const v1::AboutReply& about, const std::string& server) {
  return textOf({{"server", server},
                 {"version", printable(about.version())},
                 {"cluster", printable(about.cluster_id())},
                 {"leader", printable(about.leader())},
                 {"started", timeText(about.has_started(), about.started())},
                 {"starts so far", std::to_string(about.epoch())},
                 {"you are", printable(about.user())},
                 {"your role", roleText(about.role())},
                 {"known by", knownByText(about.known_by())},
                 {"warnings", join(wordsOf(about.warnings()), "; ")}});
}

std::string checkText(const v1::CheckStoreReply& check) {
  std::string text;
  for (const std::string& finding : check.findings()) text += printable(finding) + '\n';
  return text + counted(check.jobs(), "job") + ", " + counted(check.events(), "event") + ", " +
         sizeText(static_cast<std::uint64_t>(std::max<std::int64_t>(check.bytes(), 0))) + '\n';
}

}  // namespace pop::popctl
