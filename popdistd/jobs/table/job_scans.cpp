// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/job_scans.h"

#include <iterator>
#include <limits>
#include <utility>

#include "common/base/text.h"
#include "popdistd/api/page_room.h"

namespace pop::popdistd {
namespace {

constexpr int kPageSize = 100;
constexpr int kMaxPageSize = 1000;
constexpr int kJobsAtOnce = 1000;
constexpr std::size_t kMostScans = 16;  // of one user

}  // namespace

void JobScans::list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply) {
  if (request.page_size() == 0) request.set_page_size(kPageSize);
  if (request.page_size() < 1 || request.page_size() > kMaxPageSize)
    return reply(
        invalidArgument("page_size is " + std::to_string(request.page_size()) + ", not between 1 and 1000"));
  Scan scan{.caller = caller, .reply = std::move(reply), .before = std::numeric_limits<std::int64_t>::max()};
  if (!request.page_token().empty()) {
    const Result<std::int64_t> before = parseInteger(request.page_token());
    if (!before.ok())
      return scan.reply(
          invalidArgument("page_token is " + inQuotes(request.page_token()) + ", which no list has given"));
    scan.before = before.value();
  }
  request.set_text(lowerCase(request.text()));
  scan.request = std::move(request);
  scan.page.set_revision(revisions_.current());
  if (look(scan)) return scan.reply(std::move(scan.page));
  std::deque<Scan>& scans = scans_[caller.user];
  if (scans.size() == kMostScans)
    return scan.reply(Status(Code::kResourceExhausted,
                             "user " + inQuotes(caller.user) + " has " + std::to_string(kMostScans) +
                                 " lists under way: wait until one of them has been answered"));
  scans.push_back(std::move(scan));
  if (scans.size() == 1) goOnSoon(caller.user);
}

bool JobScans::look(Scan& scan) const {
  auto each = std::make_reverse_iterator(jobs_.all().lower_bound(scan.before));
  for (int seen = 0; each != jobs_.all().rend(); ++each, ++seen) {
    if (seen == kJobsAtOnce) return false;
    const Job& job = each->second;
    if (isWanted(job, scan)) {
      const bool is_full = scan.page.jobs_size() == scan.request.page_size() || scan.bytes >= kMostPageBytes;
      if (is_full) {
        scan.page.set_next_page_token(std::to_string(scan.before));
        return true;
      }
      v1::JobInfo info = view_(scan.caller, job);
      if (scan.request.brief()) info = brief(std::move(info));
      scan.bytes += info.ByteSizeLong();
      *scan.page.add_jobs() = std::move(info);
    }
    scan.before = each->first;
  }
  return true;
}

bool JobScans::isWanted(const Job& job, const Scan& scan) const {
  const auto reason = [&](const Job& of) -> const std::string& { return reason_for_(scan.caller, of); };
  return matches(job.info(), scan.request) && hasText(job, reason, scan.request.text());
}

void JobScans::goOnSoon(const std::string& user) {
  loop_.post(while_there_([this, user] { goOn(user); }));
}

void JobScans::goOn(const std::string& user) {
  std::deque<Scan>& scans = scans_.at(user);
  if (!look(scans.front())) return goOnSoon(user);
  Scan done = std::move(scans.front());
  scans.pop_front();
  scans.empty() ? void(scans_.erase(user)) : goOnSoon(user);
  done.reply(std::move(done.page));
}

}  // namespace pop::popdistd
