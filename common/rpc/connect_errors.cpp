// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/connect_errors.h"

#include <array>
#include <string_view>

namespace pop::rpc {
namespace {

enum class When { kAlways, kWithTls, kWithoutTls };

struct Cause {
  std::string_view text;  // in gRPC's message
  When when;
  std::string_view words;
};

constexpr std::string_view kBehindTls =
    "the connection was closed: it probably wants TLS, so give --agent-tls DIR with your certificate";
constexpr std::string_view kClosed =
    "the connection was closed during TLS: it does not accept your certificate (is it a user's, and of the "
    "same "
    "authority? see its log), or does not speak TLS there";

// The first that fits.
constexpr std::array<Cause, 16> kCauses{{
    {"Connection refused", When::kAlways,
     "connection refused: does popdist-agent serve run there, at that port?"},
    {"DNS resolution failed", When::kAlways,
     "its name is not known: check its spelling, or give its address"},
    {"Domain name not found", When::kAlways,
     "its name is not known: check its spelling, or give its address"},
    {"is not in peer certificate", When::kAlways,
     "its certificate is not for this name: use a name that it was made for (init-tls --host), or add this "
     "one"},
    {"Hostname Verification Check failed", When::kAlways,
     "its certificate is not for this name: use a name that it was made for (init-tls --host), or add this "
     "one"},
    {"CERTIFICATE_VERIFY_FAILED", When::kAlways,
     "its certificate is not signed by the ca.pem of --agent-tls"},
    {"certificate verify failed", When::kAlways,
     "its certificate is not signed by the ca.pem of --agent-tls"},
    {"wrong version number", When::kAlways, "it does not speak TLS there: is it another service's port?"},
    {"WRONG_VERSION_NUMBER", When::kAlways, "it does not speak TLS there: is it another service's port?"},
    {"No route to host", When::kAlways, "no route to host: is it up, and in a network that can be reached?"},
    {"Network is unreachable", When::kAlways, "its network cannot be reached from here"},
    {"Socket closed", When::kWithoutTls, kBehindTls},
    {"Connection reset", When::kWithoutTls, kBehindTls},
    {"Socket closed", When::kWithTls, kClosed},
    {"Connection reset", When::kWithTls, kClosed},
    {"andshake", When::kWithTls, kClosed},
}};

bool fits(const Cause& cause, const Dialled& dialled, const std::string& message) {
  if (cause.when == When::kWithTls && !dialled.has_tls) return false;
  if (cause.when == When::kWithoutTls && dialled.has_tls) return false;
  return message.find(cause.text) != std::string::npos;
}

std::string inSeconds(std::chrono::milliseconds time) {
  const auto ms = time.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

Status explainNoAnswer(const Dialled& dialled, const Status& why) {
  const std::string where =
      "the agent service at " + dialled.host + ", port " + std::to_string(dialled.port) + ": ";
  if (why.code() == Code::kDeadlineExceeded ||
      why.message().find("onnection timed out") != std::string::npos ||
      why.message().find("Timeout") != std::string::npos)
    return {Code::kDeadlineExceeded,
            where + "no answer within " + inSeconds(dialled.patience) +
                " (--connect-timeout): is the host up, and does its firewall let this port in?"};
  if (why.code() != Code::kUnavailable) return {why.code(), where + why.message()};
  for (const Cause& cause : kCauses) {
    if (fits(cause, dialled, why.message())) return unavailable(where + std::string(cause.words));
  }
  return unavailable(where + why.message());
}

Status explainLoss(const Status& why) {
  if (why.code() != Code::kUnavailable) return why;
  for (const char* text : {"Socket closed", "Connection reset by peer", "Broken pipe"}) {
    if (why.message().find(text) != std::string::npos) return unavailable("the connection was closed");
  }
  return why;
}

}  // namespace pop::rpc
