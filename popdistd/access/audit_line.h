// SPDX-License-Identifier: Apache-2.0
// An entry of the audit log as a line of JSON, and its place in the chain. Pure.
#pragma once

#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/access.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// Everything but its hash, as JSON without newlines: what the hash is of. Two versions of popdistd write the
/// same of the same entry.
std::string auditText(const v1::AuditEntry& entry);

/// The line of the file, without its newline.
std::string auditLine(const v1::AuditEntry& entry);

/// SHA-256 in hexadecimal digits: of the text's length in bytes, a colon, and the text.
std::string auditHash(const v1::AuditEntry& entry);

/// Ok, or what is wrong with `entry`, which has to follow the one with this number and hash.
Status checkNext(const v1::AuditEntry& entry, std::int64_t last, const std::string& last_hash);

/// "certificate", "the local socket", …
std::string knownByName(v1::KnownBy known_by);

}  // namespace pop::popdistd
