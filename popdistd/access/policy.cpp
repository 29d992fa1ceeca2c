// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/policy.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr v1::Role kViewer = v1::ROLE_VIEWER;
constexpr v1::Role kSubmit = v1::ROLE_SUBMIT;
constexpr v1::Role kOperator = v1::ROLE_OPERATOR;
constexpr v1::Role kAdmin = v1::ROLE_ADMIN;
constexpr bool kAudited = true;
constexpr bool kReads = false;
constexpr bool kByKeys = true;

// Calls on partitions are also subject to the allocation (popdistd/pods/pod_access.h), and a removal with
// force to the holder.
constexpr std::array kPolicy{
#define CALL(Name, member, Request, Answer, least, others, audit, ...) Rule{#Name, least, others, audit},
#include "proto/calls/controller.def"
#define CALL(Name, member, Request, Answer, least, others, audit, ...) Rule{#Name, least, others, audit},
#include "proto/calls/access.def"
#define CALL(Name, member, Request, Answer, least, others, audit, ...) \
  Rule{#Name, least, others, audit, kByKeys},
#include "proto/calls/pods.def"
#define CALL(Name, member, Request, Answer, least, others, audit, ...) \
  Rule{#Name, least, others, audit, kByKeys},
#include "proto/calls/vipu.def"
    // version.proto, and streams
    Rule{"GetVersion", kViewer, kViewer, kReads, kByKeys},
    Rule{"Watch", kViewer, kViewer, kReads},
    Rule{"Logs", kViewer, kOperator, kReads},
    Rule{"Backup", kAdmin, kAdmin, kAudited},
    Rule{"HoldPartition", kSubmit, kSubmit, kAudited, kByKeys},
};

constexpr Rule kUnknown{"", kAdmin, kAdmin, kAudited};

std::string whoIs(const Caller& caller) {
  return "user " + inQuotes(caller.user) + " has the role " + std::string(roleName(caller.role));
}

}  // namespace

std::span<const Rule> policy() {
  return kPolicy;
}

const Rule& ruleOf(std::string_view method) {
  const auto* const found = std::find_if(kPolicy.begin(), kPolicy.end(),
                                         [method](const Rule& rule) { return rule.method == method; });
  return found == kPolicy.end() ? kUnknown : *found;
}

std::string_view roleName(v1::Role role) {
  switch (role) {
    case kViewer:
      return "viewer";
    case kSubmit:
      return "submit";
    case kOperator:
      return "operator";
    case kAdmin:
      return "admin";
    default:
      return "none";
  }
}

Status checkMay(const Caller& caller, const Rule& rule) {
  if (caller.known_by == v1::KNOWN_BY_VIPU_KEY && !rule.is_for_keys)
    return {Code::kPermissionDenied,
            "a key of V-IPU's clients is for clusters, allocations and partitions only: use a certificate, a "
            "token, or popdistd's machine"};
  if (caller.role >= rule.least) return {};
  return {Code::kPermissionDenied, whoIs(caller) + (caller.token.empty() ? "" : " by this token") + ", and " +
                                       std::string(rule.method.empty() ? "this call" : rule.method) +
                                       " takes the role " + std::string(roleName(rule.least)) +
                                       " (popctl create user NAME --role)"};
}

Status checkMayWithJob(const Caller& caller, const Rule& rule, std::int64_t job, const std::string& owner) {
  if (owner == caller.user || caller.role >= rule.others) return {};
  return {Code::kPermissionDenied,
          "job " + std::to_string(job) + " belongs to user " + inQuotes(owner) + ", and " + whoIs(caller)};
}

}  // namespace pop::popdistd
