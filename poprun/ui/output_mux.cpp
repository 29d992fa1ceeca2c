// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_mux.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "common/sys/reopen.h"
#include "common/sys/terminal.h"

namespace pop {
namespace {

// With more queued bytes than this, a slow reader slows the instances down.
constexpr std::size_t kMaxWaitingBytes = 1 << 20;

std::size_t columnsOf(int terminal) {
  winsize size{};
  return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// True if nothing else writes on the line of a status line on stderr. The reader of a pipe may write to the
// same terminal.
bool canShowStatus() {
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || *kind == '\0' || std::string_view(kind) == "dumb") return false;
  if (::isatty(STDERR_FILENO) != 1) return false;
  return !S_ISFIFO(sys::modeOf(STDOUT_FILENO)) && !S_ISSOCK(sys::modeOf(STDOUT_FILENO));
}

}  // namespace

OutputMux::OutputMux(os::EpollLoop& loop, const OutputSettings& settings, CannotWrite cannot_write)
    : loop_(loop),
      settings_(settings),
      cannot_write_(std::move(cannot_write)),
      output_(loop, STDOUT_FILENO,
              {[this] { drained(); },
               [this](int error) {
                 failed({error, "stdout"});
               }}),
      errors_(makeErrors()),
      out_(makeChannel(Stream::kStdout)),
      err_(makeChannel(Stream::kStderr)),
      tail_(settings.num_instances) {
  if (settings.status_line && canShowStatus()) startStatusLine();
}

std::unique_ptr<OutputMux::Screen> OutputMux::makeErrors() {
  if (sys::sameFile(STDOUT_FILENO, STDERR_FILENO)) return nullptr;
  return std::make_unique<Screen>(loop_, STDERR_FILENO,
                                  StreamWriter::Events{[this] { drained(); },
                                                       [this](int error) {
                                                         failed({error, "stderr"});
                                                       }});
}

OutputMux::Channel OutputMux::makeChannel(Stream stream) {
  const StreamSettings& settings = stream == Stream::kStdout ? settings_.out : settings_.err;
  Screen& screen = stream == Stream::kStdout ? output_ : errors();
  Channel channel{settings, screen,
                  LineTagger({settings.tag, settings_.timestamps}, stream, screen.is_terminal), nullptr};
  if (!settings.fold) return channel;
  channel.fold = std::make_unique<Fold>(
      loop_, settings_.num_instances,
      [this, stream](const std::vector<int>& instances, std::string_view line) {
        Channel& folded = channelOf(stream);
        folded.tagger.appendFolded(beginLine(folded.screen), rangesOf(instances), line, WallClock::now());
      },
      [this, stream] { send(channelOf(stream).screen); });
  return channel;
}

void OutputMux::startStatusLine() {
  status_ = std::make_unique<StatusLine>(
      loop_, settings_.num_instances,
      StatusLine::Terminal{[] { return columnsOf(STDERR_FILENO); },
                           [this](std::string_view text) {
                             Screen& screen = errors();
                             if (screen.last != '\n' || screen.writer.waitingBytes() > 0) return false;
                             if (sys::inBackground(STDERR_FILENO)) return false;  // the line is a shell's
                             screen.writer.write(text);
                             return true;
                           }});
}

Status OutputMux::openFiles() {
  if (settings_.directory.empty()) return {};
  POP_ASSIGN_OR_RETURN(files_, OutputFiles::create(settings_.directory, settings_.num_instances));
  return {};
}

bool OutputMux::write(int instance, Stream stream, std::string_view text) {
  if (const auto failure = files_.write(instance, stream, text)) failed(*failure);
  if (stream == Stream::kStderr) tail_.note(instance, text);
  Channel& channel = channelOf(stream);
  if (channel.settings.only_instance && *channel.settings.only_instance != instance) return true;
  if (channel.fold) {
    channel.fold->write(instance, text);
    return !full_;
  }
  if (channel.settings.whole_lines) {
    channel.tagger.append(beginLine(channel.screen), instance, text, WallClock::now());
  } else {
    makeRoom(channel.screen) += text;
  }
  send(channel.screen);
  return !full_;
}

// The buffer for text that must directly follow the existing text.
std::string& OutputMux::makeRoom(Screen& screen) {
  std::string& waiting = screen.writer.waiting();
  // If stdout is another terminal or a file, it does not affect the status line.
  if (status_ && &screen == &errors()) waiting += status_->erase();
  return waiting;
}

// The buffer for a new line.
std::string& OutputMux::beginLine(Screen& screen) {
  std::string& waiting = makeRoom(screen);
  if (screen.last == '\r' && screen.is_terminal) {
    waiting += kEraseToEnd;
  } else if (screen.last != '\n') {
    waiting += '\n';
  }
  screen.last = '\n';
  return waiting;
}

// Call it after appending.
void OutputMux::send(Screen& screen) {
  if (screen.writer.waitingBytes() == 0) return;
  screen.last = screen.writer.waiting().back();
  screen.writer.send();
  full_ = full_ || screen.writer.waitingBytes() > kMaxWaitingBytes;
}

void OutputMux::print(std::string_view text) {
  beginLine(output_) += text;
  send(output_);
}

void OutputMux::say(std::string_view lines) {
  beginLine(errors()) += lines;
  send(errors());
}

void OutputMux::setHosts(const std::vector<std::string>& hosts) {
  for (Channel* channel : {&out_, &err_}) channel->tagger.setHosts(hosts);
}

void OutputMux::beginAttempt() {
  for (Channel* channel : {&out_, &err_}) {
    if (channel->fold) channel->fold->reopen();
  }
  tail_ = StderrTail(settings_.num_instances);
  if (status_) status_->beginAttempt();
}

void OutputMux::closed(int instance) {
  for (Channel* channel : {&out_, &err_}) {
    if (channel->fold) channel->fold->close(instance);
  }
}

void OutputMux::started(int instance) {
  if (status_) status_->started(instance);
}

void OutputMux::ended(int instance) {
  if (status_) status_->ended(instance);
}

bool OutputMux::waiting() const {
  return output_.writer.waitingBytes() > 0 || (errors_ && errors_->writer.waitingBytes() > 0);
}

void OutputMux::drained() {
  if (!full_) return;
  if (waiting()) return;
  full_ = false;
  if (on_ready_) on_ready_();
}

void OutputMux::failed(const WriteFailure& failure) {
  if (!failure_reported_) {
    failure_reported_ = true;
    cannot_write_(failure);
  }
  drained();
}

void OutputMux::abandon() {
  output_.writer.abandon();
  if (errors_) errors_->writer.abandon();
  drained();
}

void OutputMux::eraseStatus() {
  if (!status_) return;
  makeRoom(errors());
  errors().writer.send();
}

void OutputMux::finish(std::string_view last_lines) {
  for (Channel* channel : {&out_, &err_}) {
    if (channel->fold) channel->fold->flush();
  }
  eraseStatus();
  status_.reset();
  if (last_lines.empty()) return;
  if (errors().writer.failed()) {
    errors().writer.lastWords('\n' + std::string(last_lines));
  } else {
    say(last_lines);
  }
}

void OutputMux::flush() {
  std::vector<StreamWriter*> writers{&output_.writer};
  if (errors_) writers.push_back(&errors_->writer);
  StreamWriter::flush(writers);
}

}  // namespace pop
