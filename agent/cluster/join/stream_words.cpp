// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/join/stream_words.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace pop::joining {
namespace {

struct Explanation {
  const char* found;  ///< in gRPC's text, without capitals
  const char* words;
};

// gRPC has no codes for these. The first that is found counts.
constexpr std::array kOfConnecting{
    Explanation{"not in peer certificate",
                "its certificate is not for this name: give --controller the name that popdistd's "
                "certificate has (init-tls --host)"},
    Explanation{"no match found for server name",
                "its certificate is not for this name: give --controller the name that popdistd's "
                "certificate has (init-tls --host)"},
    Explanation{"certificate_verify_failed",
                "its certificate is not signed by the ca.pem of this host's --tls, or is out of its dates"},
    Explanation{"certificate verify failed",
                "its certificate is not signed by the ca.pem of this host's --tls, or is out of its dates"},
    Explanation{"alpn", "it is not a popdistd: what listens there speaks no HTTP/2 over TLS"},
    Explanation{"wrong version number", "it does not use TLS on that port: is it popdistd's?"},
    Explanation{"packet length too long", "it does not use TLS on that port: is it popdistd's?"},
    Explanation{"handshake failed",
                "TLS has failed: does popdistd accept this host's certificate (of the same authority, in its "
                "dates)? See popdistd's log"},
    Explanation{"connection refused",
                "connection refused: does popdistd run there, and listen at that port?"},
    Explanation{"dns resolution failed", "this host does not know that name: check --controller"},
    Explanation{"no route to host", "no route to that host: network, or firewall"},
    Explanation{"network is unreachable", "its network cannot be reached from here"},
    Explanation{"timed out", "no answer: firewall, network, or the host is down"},
    Explanation{"timeout", "no answer: firewall, network, or the host is down"},
    Explanation{"trying to connect an http1.x server",
                "it is not a popdistd: what listens there is a web server"},
    Explanation{"missing expected settings", "it is not a popdistd: what listens there speaks no HTTP/2"},
};

// gRPC does not say what TLS's other side has said: with TLS 1.3 it refuses a certificate after the
// handshake.
std::string whyClosed(const StreamEnd& end, const std::string& lower) {
  const bool was_closed =
      lower.find("closed") != std::string::npos || lower.find("reset") != std::string::npos ||
      lower.find("end of") != std::string::npos || lower.find("broken pipe") != std::string::npos;
  if (!was_closed) return {};
  return end.has_tls
             ? " (does popdistd accept this host's certificate, of the same authority and in its dates? See "
               "popdistd's log)"
             : " (it may want TLS: give this service --tls DIR)";
}

}  // namespace

std::string describe(const StreamEnd& end) {
  const std::string text = printable(end.text);
  if (end.code == Code::kUnimplemented)
    return "it is not a popdistd that hosts can join: " + (text.empty() ? "no such service" : text);
  if (end.code == Code::kOk) return "popdistd has ended the stream";
  // popdistd explains its refusals itself.
  if (end.code != Code::kUnavailable && end.code != Code::kUnknown && end.code != Code::kInternal)
    return text;
  const std::string lower = lowerCase(end.text);
  if (end.was_answered && lower.find("ping timeout") == std::string::npos)
    return "the connection was lost (" + (text.empty() ? "closed" : text) + ")";
  const auto found = std::find_if(kOfConnecting.begin(), kOfConnecting.end(), [&](const Explanation& each) {
    return lower.find(each.found) != std::string::npos;
  });
  if (found != kOfConnecting.end()) return found->words;
  return (text.empty() ? "the connection was closed" : text) + whyClosed(end, lower);
}

}  // namespace pop::joining
