// A tablet of PRUNE, and the Bloom filter that is asked before it.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include "bench/tablets/tablet_index.h"

namespace cutpoint::bench {

namespace {

MDB_val key_of(const digest& content) noexcept {
  return {content.size, const_cast<std::uint8_t*>(content.bytes.data())};
}

}  // namespace

void tablet::environment_closer::operator()(MDB_env* environment) const noexcept { mdb_env_close(environment); }
void tablet::transaction_closer::operator()(MDB_txn* transaction) const noexcept { mdb_txn_abort(transaction); }

tablet::tablet(std::string file, std::uint64_t most_bytes) : file_(std::move(file)), most_bytes_(most_bytes) {}

tablet::~tablet() {
  // Transactions end before their environment.
  writing_.reset();
  reading_.reset();
}

status tablet::failure(int error) const {
  return {status_code::io_error, file_ + ": " + mdb_strerror(error), error > 0 ? error : 0};
}

status tablet::open() {
  if (environment_) return {};
  MDB_env* environment = nullptr;
  if (const int error = mdb_env_create(&environment); error != 0) return failure(error);
  environment_.reset(environment);
  int error = mdb_env_set_mapsize(environment, most_bytes_);
  // One process uses the file, and its reads have no order that reading ahead could guess.
  const unsigned flags = MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD;
  if (error == 0) error = mdb_env_open(environment, file_.c_str(), flags, 0600);
  if (error == 0) {
    MDB_txn* first = nullptr;
    error = mdb_txn_begin(environment, nullptr, MDB_RDONLY, &first);
    reading_.reset(first);
    if (error == 0) error = mdb_dbi_open(first, nullptr, 0, &table_);
  }
  if (error != 0) {
    reading_.reset();
    environment_.reset();
    return failure(error);
  }
  is_reading_ = true;
  return describe(reading_.get());
}

status tablet::describe(MDB_txn* transaction) {
  MDB_stat tree = {};
  MDB_envinfo file = {};
  if (const int error = mdb_stat(transaction, table_, &tree); error != 0) return failure(error);
  if (const int error = mdb_env_info(environment_.get(), &file); error != 0) return failure(error);
  used_bytes_ = (tree.ms_branch_pages + tree.ms_leaf_pages + tree.ms_overflow_pages) * std::uint64_t{tree.ms_psize};
  file_bytes_ = (file.me_last_pgno + 1) * std::uint64_t{tree.ms_psize};
  entries_ = tree.ms_entries;
  depth_ = tree.ms_depth;
  return {};
}

status tablet::begin_writing() {
  if (writing_) return {};
  if (is_reading_) mdb_txn_reset(reading_.get());
  is_reading_ = false;
  MDB_txn* transaction = nullptr;
  if (const int error = mdb_txn_begin(environment_.get(), nullptr, 0, &transaction); error != 0) return failure(error);
  writing_.reset(transaction);
  is_changed_ = true;
  return {};
}

result<bool> tablet::has(const digest& content) {
  CUTPOINT_RETURN_IF_FAILED(open());
  if (!writing_ && !is_reading_) {
    if (const int error = mdb_txn_renew(reading_.get()); error != 0) return failure(error);
    is_reading_ = true;
  }
  MDB_val key = key_of(content);
  MDB_val value = {};
  const int error = mdb_get(writing_ ? writing_.get() : reading_.get(), table_, &key, &value);
  if (error != 0 && error != MDB_NOTFOUND) return failure(error);
  return error == 0;
}

status tablet::visit(const std::function<void(const digest&)>& visitor) {
  CUTPOINT_RETURN_IF_FAILED(open());
  MDB_cursor* position = nullptr;
  if (const int error = mdb_cursor_open(reading_.get(), table_, &position); error != 0) return failure(error);
  MDB_val key = {};
  MDB_val value = {};
  int error = 0;
  while ((error = mdb_cursor_get(position, &key, &value, MDB_NEXT)) == 0) {
    digest content;
    content.size = static_cast<std::uint8_t>(std::min(key.mv_size, content.bytes.size()));
    std::memcpy(content.bytes.data(), key.mv_data, content.size);
    visitor(content);
  }
  mdb_cursor_close(position);
  return error == MDB_NOTFOUND ? status() : failure(error);
}

status tablet::insert(const digest& content) {
  CUTPOINT_RETURN_IF_FAILED(open());
  CUTPOINT_RETURN_IF_FAILED(begin_writing());
  MDB_val key = key_of(content);
  MDB_val value = {};
  if (const int error = mdb_put(writing_.get(), table_, &key, &value, MDB_NOOVERWRITE); error != 0)
    return failure(error);
  return describe(writing_.get());
}

status tablet::commit() {
  if (!writing_) return {};
  if (const int error = mdb_txn_commit(writing_.release()); error != 0) return failure(error);
  return {};
}

status tablet::finish() {
  CUTPOINT_RETURN_IF_FAILED(commit());
  is_reading_ = false;
  reading_.reset();
  environment_.reset();
  return {};
}

status tablet::close() {
  if (!environment_) return {};
  CUTPOINT_RETURN_IF_FAILED(commit());
  if (std::exchange(is_changed_, false)) {
    if (const int error = mdb_env_sync(environment_.get(), 1); error != 0) return failure(error);
  }
  CUTPOINT_RETURN_IF_FAILED(finish());
  const int file = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failure(errno);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
  return {};
}

namespace {

/// Positions of a digest's bits. A digest is as good as random, so two words of it give all functions (Kirsch and Mitzenmacher).
class positions {
 public:
  positions(const digest& content, std::uint64_t bits) noexcept : bits_(bits) {
    std::memcpy(&next_, content.bytes.data(), sizeof next_);
    std::memcpy(&step_, content.bytes.data() + sizeof next_, sizeof step_);
    step_ |= 1;
  }
  std::uint64_t next() noexcept { return std::exchange(next_, next_ + step_) % bits_; }

 private:
  std::uint64_t bits_;
  std::uint64_t next_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace

bloom_filter::bloom_filter(std::uint64_t bits, unsigned functions)
    : bits_(bits), functions_(functions), words_((bits + 63) / 64) {}

void bloom_filter::add(const digest& content) noexcept {
  if (bits_ == 0) return;
  positions each(content, bits_);
  for (unsigned i = 0; i < functions_; ++i) {
    const std::uint64_t position = each.next();
    words_[position / 64] |= std::uint64_t{1} << position % 64;
  }
}

bool bloom_filter::may_have(const digest& content) const noexcept {
  if (bits_ == 0) return true;
  positions each(content, bits_);
  for (unsigned i = 0; i < functions_; ++i) {
    const std::uint64_t position = each.next();
    if ((words_[position / 64] >> position % 64 & 1) == 0) return false;
  }
  return true;
}

unsigned bloom_filter::best_functions(std::uint64_t bits, std::uint64_t digests) noexcept {
  if (digests == 0) return 1;
  const double best = std::log(2.0) * static_cast<double>(bits) / static_cast<double>(digests);
  return static_cast<unsigned>(std::clamp(std::round(best), 1.0, 64.0));
}

double bloom_filter::false_positives(std::uint64_t bits, unsigned functions, std::uint64_t digests) noexcept {
  if (bits == 0) return 1;
  const double k = functions;
  return std::pow(1 - std::exp(-k * static_cast<double>(digests) / static_cast<double>(bits)), k);
}

}  // namespace cutpoint::bench
