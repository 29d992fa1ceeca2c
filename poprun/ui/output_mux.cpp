// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_mux.h"

#include <unistd.h>

namespace pop {
namespace {

// Beyond this, a slow reader slows the instances down.
constexpr std::size_t kMaxWaitingBytes = 1 << 20;

}  // namespace

OutputMux::OutputMux(os::AsioLoop& loop, const OutputSettings& settings, std::function<void()> reader_gone)
    : settings_(settings),
      reader_gone_(std::move(reader_gone)),
      writers_{StreamWriter(loop, STDOUT_FILENO, {[this] { drained(); }, [this](int) { failed(); }}),
               StreamWriter(loop, STDERR_FILENO, {[this] { drained(); }, [this](int) { failed(); }})} {}

bool OutputMux::write(int instance, Stream stream, std::string_view text) {
  if (settings_.only_instance && *settings_.only_instance != instance) return true;
  StreamWriter& writer = writers_[static_cast<std::size_t>(stream)];
  writer.write(settings_.tag || settings_.whole_lines ? tagged(instance, text) : text);
  full_ = full_ || writer.waitingBytes() > kMaxWaitingBytes;
  return !full_;
}

std::string_view OutputMux::tagged(int instance, std::string_view text) {
  const std::string tag = settings_.tag ? '[' + std::to_string(instance) + "] " : std::string();
  if (!settings_.tag && text.ends_with('\n')) return text;
  scratch_.clear();
  while (!text.empty()) {
    const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
    scratch_ += tag;
    scratch_ += text.substr(0, line);
    text.remove_prefix(line);
  }
  // An unfinished line (its writer ended, or it was too long for the buffer) must not run into the next
  // instance's.
  if (!scratch_.ends_with('\n')) scratch_ += '\n';
  return scratch_;
}

void OutputMux::drained() {
  if (!full_) return;
  for (const StreamWriter& writer : writers_) {
    if (writer.waitingBytes() > 0) return;
  }
  full_ = false;
  if (on_ready_) on_ready_();
}

void OutputMux::failed() {
  if (!reader_gone_reported_) {
    reader_gone_reported_ = true;
    reader_gone_();
  }
  drained();
}

void OutputMux::abandon() {
  for (StreamWriter& writer : writers_) writer.abandon();
  drained();
}

void OutputMux::flush() {
  for (StreamWriter& writer : writers_) writer.flush();
}

}  // namespace pop
