// SPDX-License-Identifier: Apache-2.0
// The paths that only read: lists, streams of changes, and what jobs have written.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "popdistd/api/read_paths.h"
#include "popdistd/web/answers.h"
#include "popdistd/web/partition_picture.h"
#include "popdistd/web/query.h"
#include "popdistd/web/routes.h"
#include "popdistd/web/text_sources.h"

namespace pop::popdistd {
namespace {

// "12" and "train" both name a job.
v1::JobRef jobNamed(const std::string& text) {
  v1::JobRef job;
  const Result<std::int64_t> id = parseInteger(text);
  if (id.ok())
    job.set_id(id.value());
  else
    job.set_name(validUtf8(text));
  return job;
}

std::string textOf(const std::optional<std::string>& text) {
  return text.value_or(std::string());
}

// "a=1,2" as "1", "2"; none: it is not there.
std::vector<std::string> listedIn(const std::string& query, const std::string& name) {
  const std::optional<std::string> value = queryValue(query, name);
  return value ? split(*value, ',') : std::vector<std::string>();
}

}  // namespace

void Routes::get(const Exchange& exchange, const std::string& path, const std::string& query) {
  const Caller& caller = exchange->request().caller.value();
  if (readPathOf(path) == nullptr) return exchange->answer(notFound(path));
  if (path == "/metrics" && caller.role < v1::ROLE_VIEWER)
    return exchange->answer(
        errorAnswer({Code::kPermissionDenied, "user " + inQuotes(caller.user) + " may read nothing here"}));
  if (path == "/metrics")
    return exchange->answer({.content_type = "text/plain; version=0.0.4; charset=utf-8",
                             .body = metrics_(caller.role >= v1::ROLE_OPERATOR)});
  if (path == "/v1/jobs") return list(exchange, query);
  if (path == "/v1/counts") return api_.countJobs(caller, {}, replyTo<v1::CountJobsReply>(exchange));
  if (path == "/v1/hosts") {
    return replyAllPages<v1::ListHostsReply>(
        exchange, v1::ListHostsRequest(),
        [this, caller](const v1::ListHostsRequest& page, Reply<v1::ListHostsReply> reply) {
          api_.listHosts(caller, page, std::move(reply));
        });
  }
  if (path == "/v1/clusters") return pods_.listClusters(caller, {}, replyTo<v1::ListClustersReply>(exchange));
  if (path == "/v1/agents") return pods_.listAgents(caller, {}, replyTo<v1::ListAgentsReply>(exchange));
  if (path == "/v1/allocations")
    return pods_.listAllocations(caller, {}, replyTo<v1::ListAllocationsReply>(exchange));
  if (path == "/v1/partitions") return listPartitions(exchange, query);
  if (path == "/v1/watch") return watch(exchange, query);
  const std::vector<std::string> parts = split(path, '/');  // "", "v1", "jobs", ID
  if (parts.size() == 5 && parts[2] == "partitions")
    return drawPartition(exchange, percentDecoded(parts[3]).value_or(""), {});
  const bool is_job = parts.size() >= 4 && parts[1] == "v1" && parts[2] == "jobs" && !parts[3].empty();
  const std::optional<std::string> job = is_job ? percentDecoded(parts[3]) : std::nullopt;
  if (job && parts.size() == 4) return api_.get(caller, jobNamed(*job), replyTo<v1::JobInfo>(exchange));
  if (job && parts.size() == 5 && parts[4] == "log") return log(exchange, *job, query);
  if (job && parts.size() == 5 && parts[4] == "records") return records(exchange, *job, query);
  exchange->answer(notFound(path));
}

void Routes::list(const Exchange& exchange, const std::string& query) {
  v1::ListJobsRequest request;
  request.set_user(validUtf8(textOf(queryValue(query, "user"))));
  request.set_name(validUtf8(textOf(queryValue(query, "name"))));
  request.set_host(validUtf8(textOf(queryValue(query, "host"))));
  request.set_page_token(validUtf8(textOf(queryValue(query, "page_token"))));
  const Result<std::int64_t> size = queryNumber(query, "page_size", 0);
  if (!size.ok()) return exchange->answer(errorAnswer(size.status()));
  request.set_page_size(static_cast<std::int32_t>(std::min<std::int64_t>(size.value(), 1000)));
  request.set_text(validUtf8(textOf(queryValue(query, "text"))));
  const Result<bool> brief = parseBool(queryValue(query, "brief").value_or("0"));
  if (!brief.ok()) return exchange->answer(errorAnswer(brief.status()));
  request.set_brief(brief.value());
  for (const std::string& each : listedIn(query, "state")) {
    v1::JobState state = v1::JOB_QUEUED;
    if (!v1::JobState_Parse(each, &state))
      return exchange->answer(errorAnswer(
          invalidArgument("state=" + printable(each) + " is no state of a job, such as JOB_RUNNING")));
    request.add_states(state);
  }
  for (const std::string& each : listedIn(query, "end")) {
    v1::JobEnd end = v1::END_NONE;
    if (!v1::JobEnd_Parse(each, &end))
      return exchange->answer(
          errorAnswer(invalidArgument("end=" + printable(each) + " is no end of a job, such as END_FAILED")));
    request.add_ends(end);
  }
  api_.list(exchange->request().caller.value(), std::move(request), replyTo<v1::ListJobsReply>(exchange));
}

void Routes::listPartitions(const Exchange& exchange, const std::string& query) {
  v1::ListPodPartitionsRequest request;
  request.set_allocation(validUtf8(textOf(queryValue(query, "allocation"))));
  request.set_owner(validUtf8(textOf(queryValue(query, "owner"))));
  replyAllPages<v1::ListPodPartitionsReply>(
      exchange, std::move(request),
      [this, caller = exchange->request().caller.value()](const v1::ListPodPartitionsRequest& page,
                                                          Reply<v1::ListPodPartitionsReply> reply) {
        pods_.listPartitions(caller, page, std::move(reply));
      });
}

// The policy of the page forbids the styles that a picture has in itself; nothing in one runs.
void Routes::drawPartition(const Exchange& exchange, const std::string& id, const std::string& page_token) {
  v1::ListPodPartitionsRequest request;
  request.set_page_token(page_token);
  const auto draw = [this, exchange, id](const Result<v1::ListPodPartitionsReply>& page) {
    if (!page.ok()) return exchange->answer(errorAnswer(page.status()));
    for (const v1::PartitionInfo& each : page.value().partitions()) {
      if (each.id() != id) continue;
      return exchange->answer(
          {.content_type = "image/svg+xml",
           .body = partitionPicture(each),
           .headers = {{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}}});
    }
    const std::string& next = page.value().next_page_token();
    if (!next.empty()) return drawPartition(exchange, id, next);
    exchange->answer(
        errorAnswer({Code::kNotFound, "there is no partition " + inQuotes(id) + " that you may see"}));
  };
  pods_.listPartitions(exchange->request().caller.value(), std::move(request), draw);
}

// A browser that reconnects says the last event that it has.
void Routes::watch(const Exchange& exchange, const std::string& query) {
  const HttpRequest& http = exchange->request();
  const std::string& last = http.last_event_id;
  const Result<std::int64_t> since =
      last.empty() ? queryNumber(query, "since", 0) : queryNumber("since=" + last, "since", 0);
  const Result<std::int64_t> job = queryNumber(query, "job", 0);
  for (const auto& number : {since, job}) {
    if (!number.ok()) return exchange->answer(errorAnswer(number.status()));
  }
  v1::WatchRequest request;
  request.set_since_revision(static_cast<std::uint64_t>(since.value()));
  if (job.value() != 0) request.set_job(job.value());
  auto changes = api_.watch(http.caller.value(), request, exchange->ready());
  if (!changes.ok()) return exchange->answer(errorAnswer(changes.status()));
  if (http.method == "HEAD") return exchange->answer({.content_type = "text/event-stream"});
  exchange->stream("text/event-stream", changeEvents(std::move(*changes)), ": alive\n\n");
}

void Routes::log(const Exchange& exchange, const std::string& job, const std::string& query) {
  constexpr const char* kText = "text/plain; charset=utf-8";
  streamRecords(exchange, job, query, kText, "", outputText);
}

// A browser that reconnects says the last record that it has.
void Routes::records(const Exchange& exchange, const std::string& job, const std::string& query) {
  const std::string& last = exchange->request().last_event_id;
  const Result<std::int64_t> seen = last.empty() ? Result<std::int64_t>(0) : parseInteger(last);
  if (!seen.ok() || seen.value() < 0)
    return exchange->answer(errorAnswer(invalidArgument("Last-Event-ID is no sequence of a record")));
  const std::string from =
      seen.value() == 0 ? query : "from=" + std::to_string(seen.value() + 1) + '&' + query;
  streamRecords(exchange, job, from, "text/event-stream", ": alive\n\n", recordEvents);
}

void Routes::streamRecords(const Exchange& exchange, const std::string& job, const std::string& query,
                           const std::string& content_type, const std::string& keep_alive,
                           const PrintRecords& print) {
  const Result<std::int64_t> from = queryNumber(query, "from", 0);
  if (!from.ok()) return exchange->answer(errorAnswer(from.status()));
  v1::LogsRequest request;
  *request.mutable_job() = jobNamed(job);
  request.set_from_sequence(static_cast<std::uint64_t>(from.value()));
  for (const char* const name : {"follow", "events_only"}) {
    const Result<bool> is_set = parseBool(queryValue(query, name).value_or("0"));
    if (!is_set.ok()) return exchange->answer(errorAnswer(is_set.status()));
    name == std::string("follow") ? request.set_follow(is_set.value())
                                  : request.set_events_only(is_set.value());
  }
  auto records = api_.logs(exchange->request().caller.value(), request, exchange->ready());
  if (!records.ok()) return exchange->answer(errorAnswer(records.status()));
  if (exchange->request().method == "HEAD") return exchange->answer({.content_type = content_type});
  exchange->stream(content_type, print(std::move(*records)), keep_alive);
}

}  // namespace pop::popdistd
