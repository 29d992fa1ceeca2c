// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/audit_line.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "common/base/json.h"
#include "common/tls/digest.h"
#include "popdistd/access/secrets.h"
#include "popdistd/common/wall_clock.h"

namespace pop::popdistd {
namespace {

// "2026-04-05T17:04:03.120Z"
std::string timeText(const google::protobuf::Timestamp& time) {
  using std::chrono::days;
  const std::chrono::sys_seconds seconds{std::chrono::seconds(time.seconds())};
  const auto day = std::chrono::floor<days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(time.nanos() / 1'000'000));
  return text.data();
}

JsonObject objectOf(const v1::AuditEntry& entry) {
  JsonObject json;
  json.number("id", entry.id())
      .text("at", timeText(entry.at()))
      .text("user", entry.user())
      .text("known_by", knownByName(entry.known_by()));
  if (!entry.token().empty()) json.text("token", entry.token());
  json.text("from", entry.from())
      .text("method", entry.method())
      .text("object", entry.object())
      .number("code", entry.code());
  if (!entry.error().empty()) json.text("error", entry.error());
  json.text("previous", entry.previous());
  return json;
}

}  // namespace

std::string auditText(const v1::AuditEntry& entry) {
  return objectOf(entry).str();
}

std::string auditLine(const v1::AuditEntry& entry) {
  return objectOf(entry).text("hash", entry.hash()).str();
}

std::string auditHash(const v1::AuditEntry& entry) {
  return inHexadecimal(tls::digestOf({auditText(entry)}));
}

Status checkNext(const v1::AuditEntry& entry, std::int64_t last, const std::string& last_hash) {
  const std::string name = "entry " + std::to_string(entry.id());
  if (entry.id() != last + 1)
    return {Code::kDataLoss, "entry " + std::to_string(last + 1) + " is missing: after it comes " + name};
  if (entry.previous() != last_hash)
    return {Code::kDataLoss, name + " does not follow the one before it, which was changed"};
  if (entry.hash() != auditHash(entry)) return {Code::kDataLoss, name + " was changed"};
  return {};
}

std::string knownByName(v1::KnownBy known_by) {
  switch (known_by) {
    case v1::KNOWN_BY_HOST:
      return "this host";
    case v1::KNOWN_BY_CERTIFICATE:
      return "certificate";
    case v1::KNOWN_BY_SOCKET:
      return "socket";
    case v1::KNOWN_BY_TOKEN:
      return "token";
    case v1::KNOWN_BY_SESSION:
      return "session";
    case v1::KNOWN_BY_VIPU_KEY:
      return "vipu key";
    default:
      return "nothing";
  }
}

}  // namespace pop::popdistd
