// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/routes.h"

#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/os/place.h"
#include "popdistd/api/job_wait.h"
#include "popdistd/api/unary_methods.h"
#include "popdistd/web/answers.h"
#include "popdistd/web/page.h"

namespace pop::popdistd {
namespace {

HttpAnswer onlyBy(const std::string& methods) {
  HttpAnswer answer = problem(405, static_cast<int>(Code::kUnimplemented), "this is for " + methods);
  answer.allow = methods;
  return answer;
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

// A page that comes from elsewhere cannot send a header of ours without asking first, which is refused.
bool isOfAnotherSite(const HttpRequest& request) {
  return !request.origin.empty() && request.own_header.empty();
}

bool isJson(const std::string& content_type) {
  return lowerCase(std::string(trimmed(content_type.substr(0, content_type.find(';'))))) ==
         "application/json";
}

}  // namespace

Routes::Routes(Api& api, PodsApi& pods, std::function<std::string(bool)> metrics, AccessApi* access,
               Sessions sessions)
    : api_(api), pods_(pods), metrics_(std::move(metrics)), sessions_(std::move(sessions)) {
  forEachUnaryMethod([this](const char* name, auto method) { add(api_, name, method); });
  forEachUnaryPodsMethod([this](const char* name, auto method) { add(pods_, name, method); });
  if (access != nullptr)
    forEachUnaryAccessMethod([this, access](const char* name, auto method) { add(*access, name, method); });
  methods_["Wait"] = [this](const Exchange& exchange, const std::string& json) {
    v1::JobRef job;
    if (const Status read = wire::fromJson(json, job); !read.ok()) return exchange->answer(errorAnswer(read));
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
    if (const Status read = wire::fromJson(json, request); !read.ok())
      return exchange->answer(errorAnswer(read));
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
  if (reads) {
    if (std::optional<HttpAnswer> file = pageAnswer(request, path)) return exchange->answer(std::move(*file));
  }
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
  if (isOfAnotherSite(request))
    return exchange->answer(
        problem(403, static_cast<int>(Code::kPermissionDenied), "a page asks with the header X-Popdist: 1"));
  methods_[name](exchange, request.body.empty() ? "{}" : request.body);
}

}  // namespace pop::popdistd
