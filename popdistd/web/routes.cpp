// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/routes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/json.h"
#include "common/base/text.h"
#include "common/os/place.h"
#include "popdistd/api/job_wait.h"
#include "popdistd/api/unary_methods.h"
#include "popdistd/web/json.h"
#include "popdistd/web/query.h"
#include "popdistd/web/text_sources.h"

namespace pop::popdistd {
namespace {

int httpStatus(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kInvalidArgument:
    case Code::kOutOfRange:
      return 400;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kAborted:
    case Code::kFailedPrecondition:
      return 409;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kDataLoss:
      return 500;
  }
  return 500;
}

HttpAnswer problem(int http_status, int code, const std::string& message) {
  HttpAnswer answer{.status = http_status};
  answer.body = JsonObject().number("code", code).text("message", message).str();
  return answer;
}

HttpAnswer notFound(const std::string& path) {
  return problem(404, static_cast<int>(Code::kNotFound), "there is nothing at " + printable(path));
}

HttpAnswer onlyBy(const std::string& methods) {
  HttpAnswer answer = problem(405, static_cast<int>(Code::kUnimplemented), "this is for " + methods);
  answer.allow = methods;
  return answer;
}

template <typename Answer>
HttpAnswer jsonAnswer(const Result<Answer>& result) {
  if (!result.ok()) return errorAnswer(result.status());
  Result<std::string> json = toJson(result.value());
  if (!json.ok()) return errorAnswer(json.status());
  return {.body = std::move(*json)};
}

template <typename Answer>
Reply<Answer> replyTo(const std::shared_ptr<HttpExchange>& exchange) {
  return [exchange](const Result<Answer>& result) { exchange->answer(jsonAnswer(result)); };
}

// Pages of other sites, which a browser may have open, must reach nothing here: by a name of theirs that
// points to this host, or by a form.
Status checkHost(const HttpRequest& request) {
  if (request.has_tls) return {};
  const std::size_t colon = request.host.rfind(':');
  const bool has_port = colon != std::string::npos && !request.host.ends_with(']');
  std::string name = has_port ? request.host.substr(0, colon) : request.host;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  if (os::isLoopback(name)) return {};
  return {Code::kPermissionDenied,
          "without TLS this server is 127.0.0.1 or localhost, not " + inQuotes(request.host)};
}

bool isJson(const std::string& content_type) {
  return lowerCase(std::string(trimmed(content_type.substr(0, content_type.find(';'))))) ==
         "application/json";
}

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

}  // namespace

HttpAnswer errorAnswer(const Status& status) {
  return problem(httpStatus(status.code()), static_cast<int>(status.code()), status.message());
}

Routes::Routes(Api& api, PodsApi& pods, std::function<std::string()> metrics, AccessApi* access,
               Sessions sessions)
    : api_(api), pods_(pods), metrics_(std::move(metrics)), sessions_(std::move(sessions)) {
  forEachUnaryMethod([this](const char* name, auto method) { add(api_, name, method); });
  forEachUnaryPodsMethod([this](const char* name, auto method) { add(pods_, name, method); });
  if (access != nullptr)
    forEachUnaryAccessMethod([this, access](const char* name, auto method) { add(*access, name, method); });
  methods_["Wait"] = [this](const Exchange& exchange, const std::string& json) {
    v1::JobRef job;
    if (const Status read = fromJson(json, job); !read.ok()) return exchange->answer(errorAnswer(read));
    exchange->keep(waitForJob(api_, exchange->request().caller.value(), job,
                              [weak = std::weak_ptr<HttpExchange>(exchange)](const auto& result) {
                                if (const auto open = weak.lock()) open->answer(jsonAnswer(result));
                              }));
  };
}

template <typename Interface, typename Request, typename Answer>
void Routes::add(Interface& interface, const char* name,
                 void (Interface::*method)(const Caller&, Request, Reply<Answer>)) {
  methods_[name] = [&interface, method](const Exchange& exchange, const std::string& json) {
    Request request;
    if (const Status read = fromJson(json, request); !read.ok()) return exchange->answer(errorAnswer(read));
    (interface.*method)(exchange->request().caller.value(), std::move(request), replyTo<Answer>(exchange));
  };
}

void Routes::handle(const Exchange& exchange) {
  const HttpRequest& request = exchange->request();
  const std::size_t mark = request.target.find('?');
  const std::string path = request.target.substr(0, mark);
  const std::string query = mark == std::string::npos ? "" : request.target.substr(mark + 1);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (const Status host = checkHost(request); !host.ok())
    return exchange->answer(problem(421, static_cast<int>(host.code()), host.message()));
  if (path == "/healthz" && reads)
    return exchange->answer({.content_type = "text/plain; charset=utf-8", .body = "ok\n"});
  if (request.method == "OPTIONS")
    return exchange->answer({.status = 204, .allow = "GET, HEAD, POST, OPTIONS"});
  if (std::optional<HttpAnswer> answer = answerNobody(request, path))
    return exchange->answer(std::move(*answer));
  const std::string method = path.starts_with("/v1/") ? path.substr(4) : "";
  if (methods_.contains(method))
    return request.method == "POST" ? post(exchange, method) : exchange->answer(onlyBy("POST"));
  if (!reads) return exchange->answer(request.method == "POST" ? notFound(path) : onlyBy("GET, HEAD, POST"));
  get(exchange, path, query);
}

std::optional<HttpAnswer> Routes::answerNobody(const HttpRequest& request, const std::string& path) const {
  const bool posts = request.method == "POST";
  if (posts && path == "/login" && isJson(request.content_type)) return login(sessions_, request);
  if (!request.caller.ok()) return whoAreYou(request);
  if (isForged(request))
    return problem(403, static_cast<int>(Code::kPermissionDenied),
                   "with a cookie, a POST has to have the header X-Popdist");
  if (posts && path == "/logout") return logout(sessions_, request);
  return std::nullopt;
}

void Routes::post(const Exchange& exchange, const std::string& name) {
  const HttpRequest& request = exchange->request();
  if (!isJson(request.content_type))
    return exchange->answer(problem(415, static_cast<int>(Code::kInvalidArgument),
                                    "a request is JSON: say Content-Type: application/json"));
  methods_[name](exchange, request.body.empty() ? "{}" : request.body);
}

void Routes::get(const Exchange& exchange, const std::string& path, const std::string& query) {
  const Caller& caller = exchange->request().caller.value();
  if (path == "/metrics")
    return exchange->answer({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_()});
  if (path == "/v1/jobs") return list(exchange, query);
  if (path == "/v1/hosts") return api_.listHosts(caller, {}, replyTo<v1::ListHostsReply>(exchange));
  if (path == "/v1/partitions") return listPartitions(exchange, query);
  if (path == "/v1/watch") return watch(exchange, query);
  const std::vector<std::string> parts = split(path, '/');  // "", "v1", "jobs", ID
  const bool is_job = parts.size() >= 4 && parts[1] == "v1" && parts[2] == "jobs" && !parts[3].empty();
  const std::optional<std::string> job = is_job ? percentDecoded(parts[3]) : std::nullopt;
  if (job && parts.size() == 4) return api_.get(caller, jobNamed(*job), replyTo<v1::JobInfo>(exchange));
  if (job && parts.size() == 5 && parts[4] == "log") return log(exchange, *job, query);
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
  if (const std::optional<std::string> text = queryValue(query, "state")) {
    v1::JobState state = v1::JOB_QUEUED;
    if (!v1::JobState_Parse(*text, &state))
      return exchange->answer(errorAnswer(
          invalidArgument("state=" + printable(*text) + " is no state of a job, such as JOB_RUNNING")));
    request.add_states(state);
  }
  api_.list(exchange->request().caller.value(), std::move(request), replyTo<v1::ListJobsReply>(exchange));
}

void Routes::listPartitions(const Exchange& exchange, const std::string& query) {
  v1::ListPodPartitionsRequest request;
  request.set_allocation(validUtf8(textOf(queryValue(query, "allocation"))));
  request.set_owner(validUtf8(textOf(queryValue(query, "owner"))));
  pods_.listPartitions(exchange->request().caller.value(), std::move(request),
                       replyTo<v1::ListPodPartitionsReply>(exchange));
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
  if (http.method == "HEAD") return exchange->answer({.content_type = "text/event-stream"});
  auto changes = api_.watch(http.caller.value(), request, exchange->ready());
  if (!changes.ok()) return exchange->answer(errorAnswer(changes.status()));
  exchange->stream("text/event-stream", changeEvents(std::move(*changes)), ": alive\n\n");
}

void Routes::log(const Exchange& exchange, const std::string& job, const std::string& query) {
  const Result<std::int64_t> from = queryNumber(query, "from", 0);
  if (!from.ok()) return exchange->answer(errorAnswer(from.status()));
  const Result<bool> follow = parseBool(queryValue(query, "follow").value_or("0"));
  if (!follow.ok()) return exchange->answer(errorAnswer(follow.status()));
  v1::LogsRequest request;
  *request.mutable_job() = jobNamed(job);
  request.set_from_sequence(static_cast<std::uint64_t>(from.value()));
  request.set_follow(follow.value());
  constexpr const char* kText = "text/plain; charset=utf-8";
  if (exchange->request().method == "HEAD") return exchange->answer({.content_type = kText});
  auto records = api_.logs(exchange->request().caller.value(), request, exchange->ready());
  if (!records.ok()) return exchange->answer(errorAnswer(records.status()));
  exchange->stream(kText, outputText(std::move(*records)), "");
}

}  // namespace pop::popdistd
