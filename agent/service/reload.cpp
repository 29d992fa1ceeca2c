// SPDX-License-Identifier: Apache-2.0
#include "agent/service/reload.h"

#include <string>
#include <system_error>
#include <utility>

#include "common/log/log.h"

namespace pop::agent {

void Reload::start() {
  if (stopped_) return;
  if (std::exchange(runs_, true)) {
    again_ = true;
    return;
  }
  again_ = false;
  try {
    thread_ = std::jthread(
        [this](const std::stop_token& stop) { loop_.post([this, task = read_(stop)] { finish(task); }); });
  } catch (const std::system_error& error) {
    runs_ = false;
    log::warning(std::string("reload failed: cannot start a thread: ") + error.what());
  }
}

void Reload::stop() {
  stopped_ = true;
  thread_.request_stop();
}

void Reload::finish(const Task& task) {
  thread_.join();
  runs_ = false;
  if (stopped_) return;
  task();
  if (again_) start();
}

}  // namespace pop::agent
