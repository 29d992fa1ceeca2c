// SPDX-License-Identifier: Apache-2.0
// A finished file gets its name at once: nobody ever sees a part of it.
#pragma once

#include <string>

namespace pop::sys {

/// `temporary`, in the same directory, becomes `path`. 0, or the error: without `replace` EEXIST where there
/// is one, whoever has just made it. `temporary` is left where there is an error.
int nameFile(const std::string& temporary, const std::string& path, bool replace);

}  // namespace pop::sys
