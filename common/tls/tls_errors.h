// SPDX-License-Identifier: Apache-2.0
// Error messages for TLS failures: for a user, whose launcher has made the connection, or for a service's
// log.
#pragma once

#include "common/base/status.h"

namespace pop::tls {

struct TlsFailure {
  bool is_server = false;
  unsigned long error = 0;  ///< OpenSSL's, with its library; alerts that have come are among those of SSL
  long verify_result = 0;   ///< of the other side's certificate (X509_V_…)
};

/// Returns kUnavailable.
Status explainTls(const TlsFailure& failure);

}  // namespace pop::tls
