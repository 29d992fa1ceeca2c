// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/file_source.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "common/sys/fd.h"

namespace pop::popdistd {
namespace {

namespace v1 = ::popdist::v1;

constexpr std::size_t kChunkBytes = 256 * 1024;

class FileSource final : public Source<v1::BackupChunk> {
 public:
  FileSource(sys::Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  std::optional<v1::BackupChunk> next() override {
    if (end_) return std::nullopt;
    std::string bytes(kChunkBytes, '\0');
    ssize_t count = 0;
    do {
      count = ::read(file_.get(), bytes.data(), bytes.size());
    } while (count < 0 && errno == EINTR);
    if (count <= 0) {
      end_ = count == 0 ? Status() : errnoStatus("reading " + path_, errno);
      return std::nullopt;
    }
    bytes.resize(static_cast<std::size_t>(count));
    v1::BackupChunk chunk;
    chunk.set_bytes(std::move(bytes));
    return chunk;
  }

  std::optional<Status> ended() const override { return end_; }

 private:
  const sys::Fd file_;
  const std::string path_;
  std::optional<Status> end_;
};

}  // namespace

Result<std::unique_ptr<Source<v1::BackupChunk>>> openAndRemove(const std::string& path) {
  Result<sys::Fd> file = sys::openFile(path);
  ::unlink(path.c_str());
  if (!file.ok()) return file.status();
  return std::unique_ptr<Source<v1::BackupChunk>>(std::make_unique<FileSource>(std::move(*file), path));
}

}  // namespace pop::popdistd
