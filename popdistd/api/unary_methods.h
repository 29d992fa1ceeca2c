// SPDX-License-Identifier: Apache-2.0
// The methods of the controller that have one answer, one line each: what carries them does so by this table.
// Left out are those that take time (job_wait.h) and those that stream.
#pragma once

#include "popdistd/api/api.h"

namespace pop::popdistd {

/// Calls `visit(name, method)` for each: its name in controller.proto and the member of Api.
template <typename Visit>
void forEachUnaryMethod(Visit&& visit) {
  visit("Submit", &Api::submit);
  visit("Get", &Api::get);
  visit("List", &Api::list);
  visit("Signal", &Api::signal);
  visit("Cancel", &Api::cancel);
  visit("Hold", &Api::hold);
  visit("Release", &Api::release);
  visit("Forget", &Api::forget);
  visit("ListHosts", &Api::listHosts);
  visit("GetHost", &Api::getHost);
  visit("Drain", &Api::drain);
  visit("Resume", &Api::resume);
  visit("RemoveHost", &Api::removeHost);
  visit("About", &Api::about);
  visit("CheckStore", &Api::checkStore);
}

}  // namespace pop::popdistd
