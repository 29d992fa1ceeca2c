// SPDX-License-Identifier: Apache-2.0
// cache(directory): all elements are copied to a file of records, which is read from then on.
#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "libpopdist/data/dataset/cached.h"
#include "libpopdist/data/dataset/record_source.h"
#include "libpopdist/data/formats/records.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::io {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};

class CachedFile final : public Step {
 public:
  CachedFile(std::unique_ptr<const Node> below, std::filesystem::path directory)
      : Step(std::move(below)),
        origin_(pop::printable(this->below().description())),
        path_((directory / ("cache" + this->below().part() + ".records")).string()) {}

  /// Fills the file, if it must be known how much a sequence has.
  Extent extent() const override {
    if (const Extent known = below().extent()) return known;
    return open({}) ? Extent(file_->header().elements) : std::nullopt;
  }
  bool isSequence() const override { return false; }
  /// A second cache of the pipeline in the same directory has a file of its own.
  std::string part() const override { return Step::part() + ".cached"; }
  std::string ownDescription() const override { return {}; }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    if (!open(pass) || index >= file_->header().elements) return false;
    throwIfError(file_->copy(index, row), "Dataset.cache");
    return true;
  }

 private:
  /// False: the pass was cancelled before the file was whole.
  bool open(const Pass& pass) const {
    const std::scoped_lock lock(mutex_);
    if (file_) return true;
    if (tryOpen()) return true;
    const auto turn = awaitTurn(pass);
    if (!turn) return false;
    // Another process may have filled it while this one waited.
    return tryOpen() || (fill(pass) && tryOpen());
  }

  bool tryOpen() const {
    pop::Result<RecordFile> file = RecordFile::open(path_);
    if (!file.ok() && file.status().code() == pop::Code::kNotFound) return false;
    throwIfError(file.status(), "Dataset.cache");
    throwIfError(checkSame(file->header()), "Dataset.cache");
    file_.emplace(std::move(file).value());
    return true;
  }

  pop::Status checkSame(const RecordsHeader& header) const {
    const Extent elements = below().extent();
    if (header.spec != spec() || (elements && header.elements != *elements)) {
      return otherCache(
          "caches something else: " + std::to_string(header.elements) + " elements of " + textOf(header.spec),
          (elements ? std::to_string(*elements) + " " : "") + "elements of " + textOf(spec()));
    }
    if (header.origin == origin_) return {};
    return otherCache(
        header.origin.empty() ? "does not say what it caches" : "caches something else: " + header.origin,
        origin_);
  }

  pop::Status otherCache(const std::string& mistake, const std::string& expected) const {
    return pop::failedPrecondition(pop::inQuotes(path_) + ' ' + mistake + "; expected " + expected +
                                   ": remove it, or cache in another directory");
  }

  /// The lock of the one that fills; nothing when cancelled.
  std::optional<pop::sys::Fd> awaitTurn(const Pass& pass) const {
    const std::string path = path_ + ".lock";
    pop::sys::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!lock.valid())
      throwIfError(pop::errnoStatus("cannot create " + pop::inQuotes(path), errno), "Dataset.cache");
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        throwIfError(pop::errnoStatus("cannot lock " + pop::inQuotes(path), errno), "Dataset.cache");
      if (pass.isCancelled()) return std::nullopt;
      std::this_thread::sleep_for(kBetweenLooks);
    }
    return lock;
  }

  bool fill(const Pass& pass) const {
    const pop::Status status = copyToRecords(below(), pass.ofEpoch(0), path_, origin_);
    if (status.code() == pop::Code::kCancelled && pass.isCancelled()) return false;
    throwIfError(status, "Dataset.cache");
    return true;
  }

  std::string origin_;  // the file must have this one
  std::string path_;
  mutable std::mutex mutex_;
  mutable std::optional<RecordFile> file_;
};

}  // namespace

pop::Result<std::unique_ptr<const Node>> cachedInFile(std::unique_ptr<const Node> below,
                                                      std::filesystem::path directory) {
  if (below->extent() == Extent(kEndless))
    return pop::failedPrecondition("the dataset has no end: put cache() before repeat()");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return pop::errnoStatus("cannot create the directory " + pop::inQuotes(directory.string()),
                            error.value());
  }
  return std::unique_ptr<const Node>(std::make_unique<CachedFile>(std::move(below), std::move(directory)));
}

}  // namespace popdist::io
