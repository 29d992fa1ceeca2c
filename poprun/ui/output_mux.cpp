// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_mux.h"

#include <sys/stat.h>
#include <unistd.h>

namespace pop {
namespace {

// Beyond this, a slow reader slows the instances down.
constexpr std::size_t kMaxWaitingBytes = 1 << 20;

bool sameFile(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

OutputMux::OutputMux(os::AsioLoop& loop, const OutputSettings& settings,
                     std::function<void(int error)> cannot_write)
    : settings_(settings),
      cannot_write_(std::move(cannot_write)),
      output_(loop, STDOUT_FILENO, {[this] { drained(); }, [this](int error) { failed(error); }}) {
  if (sameFile(STDOUT_FILENO, STDERR_FILENO)) return;
  errors_.emplace(loop, STDERR_FILENO,
                  StreamWriter::Events{[this] { drained(); }, [this](int error) { failed(error); }});
}

bool OutputMux::write(int instance, Stream stream, std::string_view text) {
  if (settings_.only_instance && *settings_.only_instance != instance) return true;
  StreamWriter& writer = writerOf(stream);
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
  if (waiting()) return;
  full_ = false;
  if (on_ready_) on_ready_();
}

void OutputMux::failed(int error) {
  if (!failure_reported_) {
    failure_reported_ = true;
    cannot_write_(error);
  }
  drained();
}

void OutputMux::abandon() {
  output_.abandon();
  if (errors_) errors_->abandon();
  drained();
}

void OutputMux::flush() {
  output_.flush();
  if (errors_) errors_->flush();
}

}  // namespace pop
