// SPDX-License-Identifier: Apache-2.0
// A temporary file as a stream of its chunks. Nothing of it is left, however the stream ends.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "popdistd/api/source.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popdistd {

/// Opens the file and removes its name at once.
Result<std::unique_ptr<Source<::popdist::v1::BackupChunk>>> openAndRemove(const std::string& path);

}  // namespace pop::popdistd
