// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/record_source.h"

#include <utility>

#include "libpopdist/data/dataset/description.h"
#include "libpopdist/data/dataset/row_layout.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::io {
namespace {

class Records final : public AddressedSource {
 public:
  explicit Records(RecordFile file) : AddressedSource(file.header().elements), file_(std::move(file)) {}

  const Spec& spec() const override { return file_.header().spec; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    throwIfError(file_.copy(index, row), "Dataset.records");
    return true;
  }

  void willRead(const Pass&, std::uint64_t index) const override {
    if (has(index)) file_.prefetch(index);
  }

  std::string description() const override { return "records(" + describeFiles({file_.state()}) + ')'; }

 private:
  RecordFile file_;
};

}  // namespace

pop::Result<std::unique_ptr<const Node>> recordsOf(const std::string& path) {
  POP_ASSIGN_OR_RETURN(RecordFile file, RecordFile::open(path));
  return std::unique_ptr<const Node>(std::make_unique<Records>(std::move(file)));
}

pop::Status copyToRecords(const Node& node, const Pass& pass, const std::string& path,
                          const std::string& origin) {
  POP_ASSIGN_OR_RETURN(RecordWriter writer, RecordWriter::create(path, node.spec(), origin));
  const RowLayout layout(node.spec());
  const ScratchRow row(layout);
  for (std::uint64_t index = 0; node.read(pass, index, row.row()); ++index)
    POP_RETURN_IF_ERROR(writer.append(row.row()));
  if (pass.isCancelled()) return {pop::Code::kCancelled, "cancelled"};
  return writer.finish();
}

}  // namespace popdist::io
