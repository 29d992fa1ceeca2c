// SPDX-License-Identifier: Apache-2.0
// The writer on everything that poprun's stdout may be: a pipe, a socket, a file; read slowly, or no longer.
#include "poprun/ui/stream_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/os/tcp.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/run_until.h"

namespace pop {
namespace {

using testing::runUntil;

// Numbers, so that a lost or swapped piece is noticed; more than a pipe or socket holds.
const std::string& longText() {
  static const std::string text = [] {
    std::string lines;
    for (int line = 0; lines.size() < (1 << 20); ++line) lines += std::to_string(line) + '\n';
    return lines;
  }();
  return text;
}

// The bytes that can be read now.
std::string readSome(const sys::Fd& fd) {
  std::array<char, 8192> chunk{};
  const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
  return got > 0 ? std::string(chunk.data(), static_cast<std::size_t>(got)) : std::string();
}

class StreamWriterTest : public ::testing::Test {
 protected:
  StreamWriterTest() {
    std::signal(SIGPIPE, SIG_IGN);  // as in poprun
    EXPECT_TRUE(sys::setNonBlocking(pipe.read_end.get()).ok());
  }

  StreamWriter makeWriter(int fd) {
    return {loop, fd, {[this] { ++drained; }, [this](int error) { errors.push_back(error); }}};
  }

  // Writes more than fits, and reads it all while the loop runs.
  void expectAllArrives(StreamWriter& writer, const sys::Fd& reader) {
    const std::string& text = longText();
    writer.write(text);
    writer.write("the end");
    EXPECT_GT(writer.waitingBytes(), 0U);
    std::string got;
    runUntil(loop, [&] {
      got += readSome(reader);
      return got.size() >= text.size() + 7;
    });
    EXPECT_TRUE(got == text + "the end");
    EXPECT_EQ(writer.waitingBytes(), 0U);
    EXPECT_EQ(drained, 1);
    EXPECT_TRUE(errors.empty());
  }

  os::EpollLoop loop;
  sys::Pipe pipe = sys::makePipe().value();
  int drained = 0;
  std::vector<int> errors;
};

TEST_F(StreamWriterTest, WritesWhatFitsAtOnce) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  writer.write("hello\n");
  EXPECT_EQ(readSome(pipe.read_end), "hello\n") << "without the loop";
  EXPECT_EQ(writer.waitingBytes(), 0U);
}

TEST_F(StreamWriterTest, KeepsTheRestForASlowReaderOfAPipe) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  expectAllArrives(writer, pipe.read_end);
}

TEST_F(StreamWriterTest, KeepsTheRestForASlowReaderOfASocket) {
  auto [ours, theirs] = sys::socketPair().value();
  ASSERT_TRUE(sys::setNonBlocking(theirs.get()).ok());
  StreamWriter writer = makeWriter(ours.get());
  expectAllArrives(writer, theirs);
}

TEST_F(StreamWriterTest, WritesToAFileAsMuchAsItIsGiven) {
  const sys::Fd file = sys::Fd(::memfd_create("file", MFD_CLOEXEC));
  StreamWriter writer = makeWriter(file.get());
  const std::string& text = longText();
  writer.write(text);
  EXPECT_EQ(writer.waitingBytes(), 0U);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), static_cast<off_t>(text.size()));
}

TEST_F(StreamWriterTest, LeavesTheDescriptorsFlagsToTheirOwner) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  writer.write(longText());
  EXPECT_EQ(::fcntl(pipe.write_end.get(), F_GETFL) & O_NONBLOCK, 0) << "a shell may share it";
  writer.abandon();
}

TEST_F(StreamWriterTest, PutsASocketsFlagsBackAtTheEnd) {
  auto [ours, theirs] = sys::socketPair().value();
  const int before = ::fcntl(ours.get(), F_GETFL);
  {
    StreamWriter writer = makeWriter(ours.get());
    writer.write(longText());
    testing::runIdle(loop);
  }
  EXPECT_EQ(::fcntl(ours.get(), F_GETFL), before);
}

TEST_F(StreamWriterTest, ReportsAReaderThatHasGoneOnce) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  pipe.read_end.reset();
  writer.write("nobody hears this");
  writer.write("nor this");
  EXPECT_EQ(errors, std::vector<int>{EPIPE});
  EXPECT_TRUE(writer.failed());
  EXPECT_EQ(writer.waitingBytes(), 0U);
}

TEST_F(StreamWriterTest, ReportsAReaderThatGoesWhileTextWaits) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  writer.write(longText());
  ASSERT_GT(writer.waitingBytes(), 0U);
  pipe.read_end.reset();
  runUntil(loop, [this] { return !errors.empty(); });
  EXPECT_EQ(errors, std::vector<int>{EPIPE});
  EXPECT_EQ(writer.waitingBytes(), 0U);
  EXPECT_EQ(drained, 0);
}

// That is a reset of the connection.
TEST_F(StreamWriterTest, ReportsAReaderOverTcpThatGoesWithoutReadingAll) {
  const os::Listener listener = os::listenAt("127.0.0.1", 0).value();
  const sys::Fd ours(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in there{.sin_family = AF_INET,
                    .sin_port = htons(static_cast<in_port_t>(listener.port)),
                    .sin_addr = {htonl(INADDR_LOOPBACK)},
                    .sin_zero = {}};
  ASSERT_EQ(::connect(ours.get(), reinterpret_cast<sockaddr*>(&there), sizeof(there)), 0);
  StreamWriter writer = makeWriter(ours.get());
  {
    const os::AcceptedConnection theirs = os::acceptConnection(listener.socket.get());
    writer.write("nobody reads this");
  }
  pollfd reset{.fd = ours.get(), .events = 0, .revents = 0};
  ASSERT_EQ(::poll(&reset, 1, 20'000), 1);
  writer.write("nor this");
  EXPECT_EQ(errors, std::vector<int>{EPIPE});
}

// A pipe that may not be opened anew: another user's, as after su.
class StreamWriterToAnothersPipe : public StreamWriterTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  }
  StreamWriter makeForeignWriter() {
    const AsAnotherUser now;
    return makeWriter(pipe.write_end.get());
  }

 private:
  struct AsAnotherUser {
    AsAnotherUser() { EXPECT_EQ(::seteuid(65534), 0); }
    ~AsAnotherUser() { EXPECT_EQ(::seteuid(0), 0); }
    AsAnotherUser(const AsAnotherUser&) = delete;
    AsAnotherUser& operator=(const AsAnotherUser&) = delete;
  };
};

TEST_F(StreamWriterToAnothersPipe, KeepsTheRestForASlowReader) {
  StreamWriter writer = makeForeignWriter();
  expectAllArrives(writer, pipe.read_end);
}

TEST_F(StreamWriterToAnothersPipe, LastWordsDoNotWaitForAReader) {
  StreamWriter writer = makeForeignWriter();
  const auto room = static_cast<std::size_t>(::fcntl(pipe.write_end.get(), F_GETPIPE_SZ));
  ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), longText().substr(0, room - PIPE_BUF)).ok());
  writer.lastWords(longText());
  writer.lastWords("more");
  std::size_t got = 0;
  for (std::string some; !(some = readSome(pipe.read_end)).empty();) got += some.size();
  EXPECT_EQ(got, room);
}

TEST_F(StreamWriterTest, FlushBlocksUntilAllIsOut) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  const std::string& text = longText();
  writer.write(text);
  ASSERT_EQ(::fcntl(pipe.read_end.get(), F_SETFL, 0), 0);
  std::string got;
  std::thread reader([&] {
    while (got.size() < text.size()) got += readSome(pipe.read_end);
  });
  StreamWriter::flush({&writer});
  EXPECT_EQ(writer.waitingBytes(), 0U);
  reader.join();
  EXPECT_TRUE(got == text);
}

TEST_F(StreamWriterTest, FlushEndsWhenTheReaderGoes) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  writer.write(longText());
  pipe.read_end.reset();
  StreamWriter::flush({&writer});
  EXPECT_TRUE(writer.failed());
}

TEST_F(StreamWriterTest, AbandonDropsWhatWaitsAndWhatFollows) {
  StreamWriter writer = makeWriter(pipe.write_end.get());
  writer.write(longText());
  writer.abandon();
  EXPECT_EQ(writer.waitingBytes(), 0U);
  writer.write("more");
  EXPECT_EQ(writer.waitingBytes(), 0U);
  StreamWriter::flush({&writer});
  EXPECT_TRUE(errors.empty()) << "giving up is no failure of the reader";
}

TEST_F(StreamWriterTest, MayGoWhileTextWaits) {
  {
    StreamWriter writer = makeWriter(pipe.write_end.get());
    writer.write(longText());
  }
  while (!readSome(pipe.read_end).empty()) {
  }
  testing::runIdle(loop);
  EXPECT_EQ(drained, 0);
}

}  // namespace
}  // namespace pop
