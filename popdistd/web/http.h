// SPDX-License-Identifier: Apache-2.0
// Requests and answers of HTTP, between the web server, which has the connections on a thread of its own, and
// the handlers, on the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "popdistd/api/api.h"
#include "popdistd/api/source.h"

namespace pop::popdistd {

struct HttpRequest {
  std::string method;         ///< "GET", "POST", …
  std::string target;         ///< "/v1/watch?since=5"
  std::string host;           ///< as the client calls this server; empty: not said
  std::string content_type;   ///< likewise
  std::string last_event_id;  ///< likewise
  std::string if_none_match;  ///< likewise
  std::string origin;      ///< of the page that asks; empty: it is no page's request, or one that only reads
  std::string own_header;  ///< X-Popdist, which pages of other sites cannot send
  bool takes_gzip = false;
  std::string body;
  bool has_tls = false;
  Peer peer;
  std::string session;                                       ///< of a cookie; empty: there is none
  Result<Caller> caller = Status(Code::kUnknown, "nobody");  ///< an error: why there is no caller
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow;                                              ///< methods, with 405 and for OPTIONS
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< more, or in place of the usual ones
};

/// The content of an answer without an end that is known.
using ByteSource = Source<std::string>;

/// One request, to be answered once: by answer() or by stream(). On the loop's thread.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual const HttpRequest& request() const = 0;
  virtual void answer(HttpAnswer answer) = 0;

  /// Sends the status 200 and all that `source` has, as fast as the client takes it. `keep_alive`: sent when
  /// there has been nothing to send for 15 s, so that a client that has gone is noticed; may be empty.
  virtual void stream(std::string content_type, std::unique_ptr<ByteSource> source,
                      std::string keep_alive) = 0;

  /// For the source's maker: tells that there is something, also before stream().
  virtual std::function<void()> ready() = 0;

  /// Keeps `work` until the exchange is over, and destroys it then.
  virtual void keep(std::shared_ptr<void> work) = 0;
};

/// Answers requests, on the loop's thread, now or later.
using HttpHandler = std::function<void(const std::shared_ptr<HttpExchange>&)>;

/// `{"code": 5, "message": "…"}` with HTTP's status for it.
HttpAnswer errorAnswer(const Status& status);

}  // namespace pop::popdistd
