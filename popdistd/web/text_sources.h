// SPDX-License-Identifier: Apache-2.0
// Streams of messages as the bytes of an HTTP answer.
#pragma once

#include <memory>

#include "popdistd/web/http.h"

namespace pop::popdistd {

/// A job's output, and nothing else.
std::unique_ptr<ByteSource> outputText(std::unique_ptr<Source<v1::Record>> records);

/// Server-Sent Events: "id: REVISION", "data: JSON". At its end "event: end" with the status.
std::unique_ptr<ByteSource> changeEvents(std::unique_ptr<Source<ShownChange>> changes);

/// The same of a job's records: "id: SEQUENCE".
std::unique_ptr<ByteSource> recordEvents(std::unique_ptr<Source<v1::Record>> records);

}  // namespace pop::popdistd
