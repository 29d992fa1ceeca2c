// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/transport_settings.h"

#include "common/base/text.h"

namespace popdist::context {
namespace {

constexpr const char* kTransport = "POPDIST_TRANSPORT";
constexpr const char* kStreams = "POPDIST_TCP_STREAMS";
constexpr const char* kCongestion = "POPDIST_TCP_CONGESTION";
constexpr std::int64_t kMaxStreams = 64;

}  // namespace

std::string TransportSettings::inTag() const {
  std::string text = tcp_only ? std::string(", ") + kTransport + "=tcp" : "";
  if (tcp_streams != TransportSettings().tcp_streams)
    text += std::string(", ") + kStreams + '=' + std::to_string(tcp_streams);
  return text;
}

pop::Result<TransportSettings> transportSettings(const pop::contract::Lookup& lookup) {
  TransportSettings settings;
  if (const char* const text = lookup(kTransport); text != nullptr && *text != '\0') {
    const std::string transport = text;
    if (transport != "tcp" && transport != "auto") {
      return pop::invalidArgument(
          std::string(kTransport) + "=" + pop::inQuotes(transport) +
          " is neither auto (shared memory within a host, TCP between hosts) nor tcp");
    }
    settings.tcp_only = transport == "tcp";
  }
  if (const char* const text = lookup(kStreams); text != nullptr && *text != '\0') {
    const pop::Result<std::int64_t> streams = pop::parseInteger(text);
    if (!streams.ok() || streams.value() < 1 || streams.value() > kMaxStreams) {
      return pop::invalidArgument(std::string(kStreams) + "=" + pop::inQuotes(text) +
                                  " is not a number of streams from 1 to " + std::to_string(kMaxStreams));
    }
    settings.tcp_streams = static_cast<int>(streams.value());
  }
  if (const char* const text = lookup(kCongestion); text != nullptr) settings.tcp_congestion_control = text;
  return settings;
}

}  // namespace popdist::context
