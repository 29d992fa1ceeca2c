// SPDX-License-Identifier: Apache-2.0
#include "common/log/log.h"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace pop::log {
namespace {

// The one global: a logger has no state that a test or a second job could trip over.
spdlog::logger& logger() {
  static const auto instance = [] {
    auto created = std::make_shared<spdlog::logger>(
        "POPRUN", std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>());
    created->set_pattern("%H:%M:%S.%e %P POPRUN [%L] %v");
    created->set_level(spdlog::level::warn);
    return created;
  }();
  return *instance;
}

}  // namespace

void setLevel(Level level) {
  switch (level) {
    case Level::kWarning:
      logger().set_level(spdlog::level::warn);
      break;
    case Level::kInfo:
      logger().set_level(spdlog::level::info);
      break;
    case Level::kDebug:
      logger().set_level(spdlog::level::debug);
      break;
  }
}

void warning(std::string_view text) {
  logger().warn("{}", text);
}
void info(std::string_view text) {
  logger().info("{}", text);
}
void debug(std::string_view text) {
  logger().debug("{}", text);
}

}  // namespace pop::log
