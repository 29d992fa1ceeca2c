// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/unreached.h"

#include <algorithm>
#include <iterator>

#include "common/base/text.h"

namespace pop::popctl {
namespace {

enum class With { kEither, kTls, kNoTls };

struct Cause {
  const char* grpc_words;
  With with;
  const char* text;
};

constexpr std::string_view kTlsOption = "TLS-OPTION";  // stands for the asking program's

// The first that fits.
constexpr Cause kCauses[] = {
    {"is not in peer certificate", With::kTls,
     "its certificate does not have that name: use one that it has, or make one with popdist-agent "
     "init-tls --host that has all names of that host"},
    {"certificate verify failed", With::kTls,
     "its certificate is not of the authority in ca.pem of TLS-OPTION, or is not valid at this time: is that "
     "directory of this cluster, and is this host's clock right?"},
    {"wrong version number", With::kTls,
     "the server there does not speak TLS: it is another program, or a popdistd without TLS, which is "
     "reached without TLS-OPTION"},
    {"selected ALPN property", With::kTls,
     "the server there is of something else: it may be popdistd's port for HTTP; give that of its "
     "--listen"},
    {"Ssl handshake failed", With::kTls,
     "there was no TLS connection: it is another program, or it does not accept your certificate (its log "
     "says why)"},
    {"http1.x server", With::kEither,
     "the server there speaks HTTP: it may be popdistd's port for HTTP; give that of its "
     "--listen"},
    {"parsing HTTP/2", With::kEither,
     "the server there is another program: give the port of popdistd's --listen"},
    {"ocket closed", With::kNoTls,
     "the connection was closed at once: popdistd there probably wants TLS, so give TLS-OPTION with your "
     "certificate"},
    {"ocket closed", With::kTls,
     "the connection was closed at once: it does not accept your certificate (its log says why), or is "
     "another program"},
    {"Connection reset", With::kEither,
     "the connection was reset: it is another program, or popdistd is ending"},
    {"Connection refused", With::kEither, "connection refused: does popdistd run there, at that port?"},
    {"No route to host", With::kEither,
     "no route to host: is it up, and in a network that this host can reach?"},
    {"Network is unreachable", With::kEither, "its network cannot be reached from this host"},
    {"No such file or directory", With::kEither, "there is no such socket: does popdistd run on this host?"},
    {"DNS resolution", With::kEither, "its name is unknown: check the spelling, or use its address"},
    {"imed out", With::kEither, "no answer in time: is the host up, and does its firewall let this port in?"},
    {"imeout", With::kEither, "no answer in time: is the host up, and does its firewall let this port in?"},
};

bool fits(const Cause& cause, const Server& server, const std::string& words) {
  const bool fits_tls = cause.with == With::kEither || (cause.with == With::kTls) == server.tls.has_value();
  return fits_tls && words.find(cause.grpc_words) != std::string::npos;
}

}  // namespace

std::string unreachedText(const Server& server, const std::string& grpc_words) {
  const char* const with = server.address.starts_with("unix:") ? ""
                           : server.tls                        ? " with TLS"
                                                               : " without TLS";
  const auto* const cause = std::find_if(std::begin(kCauses), std::end(kCauses),
                                         [&](const Cause& each) { return fits(each, server, grpc_words); });
  std::string why = cause != std::end(kCauses) ? cause->text : grpc_words;
  if (const std::size_t at = why.find(kTlsOption); at != std::string::npos)
    why.replace(at, kTlsOption.size(), server.tls_option);
  return "popdistd cannot be reached at " + server.address + with + " (" + server.options + "): " + why;
}

}  // namespace pop::popctl
