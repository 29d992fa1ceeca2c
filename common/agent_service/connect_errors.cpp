// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/connect_errors.h"

#include <cerrno>

#include "common/base/text.h"

namespace pop::wire {
Status explainDial(const os::Dialled& dialled) {
  if (dialled.lookup.code() == Code::kNotFound)
    return unavailable("its name is unknown: check the spelling, or use its address");
  if (!dialled.lookup.ok()) return unavailable(dialled.lookup.message());
  switch (dialled.error_number) {
    case ECONNREFUSED:
      return unavailable("connection refused: does popdist-agent serve run there, at that port?");
    case EHOSTUNREACH:
      return unavailable("no route to host: is it up, and in a network that this host can reach?");
    case ENETUNREACH:
      return unavailable("its network cannot be reached from this host");
    case ETIMEDOUT:
      return {Code::kDeadlineExceeded, "no answer"};
    default:
      return unavailable(errnoStatus("connecting", dialled.error_number).message());
  }
}

Status explainSilentEnd(bool has_tls) {
  if (!has_tls)
    return unavailable(
        "the connection was closed: it probably wants TLS, so give --agent-tls DIR with your certificate");
  return unavailable(
      "the connection was closed during TLS: it does not accept your certificate (is it a user's, and of "
      "the same authority? see its log), or does not use TLS on that port");
}

Status explainNoAnswer(const ServicePlace& place, const Status& why) {
  const std::string where =
      "the agent service at " + place.host + ", port " + std::to_string(place.port) + ": ";
  if (why.code() != Code::kDeadlineExceeded) return {why.code(), where + why.message()};
  return {why.code(), where + "no answer within " + secondsText(place.timeout) + " s" +
                          " (--connect-timeout): is the host up, and does its firewall let this port in?"};
}

}  // namespace pop::wire
