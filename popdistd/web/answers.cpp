// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/answers.h"

#include "common/base/json.h"
#include "common/base/text.h"

namespace pop::popdistd {
namespace {

int httpStatus(Code code) {
  if (code == kUnauthenticated) return 401;
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

}  // namespace

HttpAnswer problem(int http_status, int code, const std::string& message) {
  HttpAnswer answer{.status = http_status};
  answer.body = JsonObject().number("code", code).text("message", message).str();
  return answer;
}

HttpAnswer notFound(const std::string& path) {
  return problem(404, static_cast<int>(Code::kNotFound), "there is nothing at " + printable(path));
}

HttpAnswer errorAnswer(const Status& status) {
  return problem(httpStatus(status.code()), static_cast<int>(status.code()), status.message());
}

}  // namespace pop::popdistd
