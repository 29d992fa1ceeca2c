// SPDX-License-Identifier: Apache-2.0
#include "common/log/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace pop::log {
namespace {

constexpr const char* kBrief = "poprun: warning: %v";  // unless more is asked for
constexpr const char* kFull = "%H:%M:%S.%e %P POPRUN [%L] %v";

class Sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void setTarget(std::function<void(std::string_view)> target) {
    const std::lock_guard<std::mutex> lock(mutex_);
    target_ = std::move(target);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (target_) return target_({line.data(), line.size()});
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  void flush_() override { std::fflush(stderr); }

 private:
  std::function<void(std::string_view)> target_;
};

const std::shared_ptr<Sink>& sink() {
  static const auto instance = std::make_shared<Sink>();
  return instance;
}

// The only global: it holds no state that could affect a test or a second job.
spdlog::logger& logger() {
  static const auto instance = [] {
    auto created = std::make_shared<spdlog::logger>("POPRUN", sink());
    created->set_pattern(kBrief);
    created->set_level(spdlog::level::warn);
    return created;
  }();
  return *instance;
}

}  // namespace

void setLevel(Level level) {
  logger().set_pattern(level == Level::kWarning ? kBrief : kFull);
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

void setSink(std::function<void(std::string_view line)> target) {
  sink()->setTarget(std::move(target));
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
