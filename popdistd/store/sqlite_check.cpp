// SPDX-License-Identifier: Apache-2.0
// Looks through the whole SQLite store: its pages, what refers to what, and whether every record can be read.
#include "common/base/text.h"
#include "popdistd/store/sqlite_store.h"
#include "proto/popdist/v1/job.pb.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostFindings = 100;

// A sentence of columns 0 and 1 for each row that should not be there. The schema forbids them all; a program
// that has not asked for foreign keys can still write them.
struct Question {
  std::string_view rows;
  std::string_view before;
  std::string_view between;
};
constexpr Question kQuestions[] = {
    {"SELECT job, count(*) FROM job_events WHERE job NOT IN (SELECT id FROM jobs) GROUP BY job",
     "events of job ", ", which is not there, in number: "},
    {"SELECT job, length(spec) FROM job_specs WHERE job NOT IN (SELECT id FROM jobs)", "a spec of job ",
     ", which is not there; its bytes: "},
    {"SELECT partition, cluster || ' ' || ild || ' ' || ipu FROM partition_ipus "
     "WHERE partition NOT IN (SELECT id FROM partitions)",
     "partition ", ", which is not there, has an IPU: "},
    {"SELECT partition, job FROM bindings WHERE partition NOT IN (SELECT id FROM partitions)", "partition ",
     ", which is not there, is bound to job "},
    {"SELECT job, partition FROM bindings WHERE job NOT IN (SELECT id FROM jobs)", "job ",
     ", which is not there, is bound to partition "},
};

class Checker {
 public:
  Checker(Database& database, StoreCheck& check) : database_(database), check_(check) {}

  Status checkAll() {
    POP_RETURN_IF_ERROR(checkPages());
    for (const Question& question : kQuestions) POP_RETURN_IF_ERROR(ask(question));
    POP_RETURN_IF_ERROR(checkJobs());
    POP_RETURN_IF_ERROR(checkSpecs());
    POP_RETURN_IF_ERROR(checkEvents());
    POP_RETURN_IF_ERROR(checkHosts());
    POP_RETURN_IF_ERROR(checkQuotas());
    POP_RETURN_IF_ERROR(checkUsage());
    return measure();
  }

  /// Says how many findings are left out.
  void end() {
    if (left_out_ > 0) check_.findings.push_back("and " + counted(left_out_, "finding") + " more");
  }

 private:
  void find(std::string finding) {
    if (check_.findings.size() < kMostFindings)
      check_.findings.push_back(std::move(finding));
    else
      ++left_out_;
  }

  // Whole pages, and that indices have what their tables have.
  Status checkPages() {
    return database_.select("PRAGMA integrity_check", {}, [&](const Row& row) {
      if (const std::string finding = row.bytes(0); finding != "ok") find("the file: " + printable(finding));
      return Status();
    });
  }

  Status ask(const Question& question) {
    return database_.select(question.rows, {}, [&](const Row& row) {
      find(std::string(question.before) + printable(row.bytes(0)) + std::string(question.between) +
           printable(row.bytes(1)));
      return Status();
    });
  }

  Status checkJobs() {
    return database_.select("SELECT id, state, request_id, record FROM jobs", {}, [&](const Row& row) {
      const std::string job = "job " + std::to_string(row.integer(0));
      v1::JobRecord record;
      if (!record.ParseFromString(row.bytes(3)))
        find("the record of " + job + " cannot be read");
      else if (record.info().id() != row.integer(0) || record.info().state() != row.integer(1) ||
               record.request_id() != row.bytes(2))
        find("the record of " + job + " differs from its row in id, state or request id");
      return Status();
    });
  }

  Status checkSpecs() {
    return database_.select("SELECT job, spec FROM job_specs", {}, [&](const Row& row) {
      if (!v1::JobSpec().ParseFromString(row.bytes(1)))
        find("the spec of job " + std::to_string(row.integer(0)) + " cannot be read");
      return Status();
    });
  }

  Status checkEvents() {
    return database_.select("SELECT job, sequence, record FROM job_events", {}, [&](const Row& row) {
      ++check_.events;
      if (!v1::JobEvent().ParseFromString(row.bytes(2)))
        find("event " + std::to_string(row.integer(1)) + " of job " + std::to_string(row.integer(0)) +
             " cannot be read");
      return Status();
    });
  }

  // As above: the schema forbids it, and a program that has turned checks off can still write it.
  Status checkUsage() {
    return database_.select("SELECT user, amount_ms FROM usage WHERE amount_ms < 0 OR user = ''", {},
                            [&](const Row& row) {
                              find("user " + inQuotes(row.bytes(0)) +
                                   " has used less than nothing: " + std::to_string(row.integer(1)) + " ms");
                              return Status();
                            });
  }

  Status checkQuotas() {
    return database_.select("SELECT name, record FROM records WHERE kind = 'quota'", {}, [&](const Row& row) {
      if (!v1::QuotaRecord().ParseFromString(row.bytes(1)))
        find("the record of the quota of " + printable(row.bytes(0)) + " cannot be read");
      return Status();
    });
  }

  // Hosts and quotas are the only small records with a message that is known here.
  Status checkHosts() {
    return database_.select("SELECT name, record FROM records WHERE kind = 'host'", {}, [&](const Row& row) {
      if (!v1::HostRecord().ParseFromString(row.bytes(1)))
        find("the record of host " + inQuotes(row.bytes(0)) + " cannot be read");
      return Status();
    });
  }

  Status measure() {
    POP_ASSIGN_OR_RETURN(check_.jobs, database_.number("SELECT count(*) FROM jobs"));
    POP_ASSIGN_OR_RETURN(check_.bytes, database_.bytes());
    return {};
  }

  Database& database_;
  StoreCheck& check_;
  std::int64_t left_out_ = 0;
};

}  // namespace

Result<StoreCheck> SqliteStore::check() {
  StoreCheck check;
  POP_RETURN_IF_ERROR(lookAtCommitted([&check](Database& database) {
    Checker checker(database, check);
    Status status = checker.checkAll();
    checker.end();
    if (status.code() != Code::kDataLoss) return status;
    // A page that cannot be read ends the look, and is itself what it has found.
    check.findings.push_back(status.message());
    return Status();
  }));
  return check;
}

}  // namespace pop::popdistd
