// The public class of a store: how it is made and opened, its settings and keys.
#include "store/api/backup_store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/context.h>
#include <cutpoint/cost_model.h>
#include <fmt/format.h>

#include "store/format/failure.h"
#include "store/index/shard_index.h"
#include "store/objects/lease.h"
#include "store/storage/directory_storage.h"

namespace cutpoint {

namespace {

/// As long as `usual_store_sizes`.
constexpr std::string_view default_keyed_cuts = "toeplitz128-aes(min_exp=14,max_exp=18,mask_bits=16,normalization=2)";

std::optional<store::key_secret> secret_of(const store_secret& secret) {
  if (secret.which == store_secret::kind::none) return std::nullopt;
  const bool is_password = secret.which == store_secret::kind::password;
  return store::key_secret{is_password ? store::secret_kind::password : store::secret_kind::key_file, secret.bytes};
}

store::storage_opener opener_of(std::shared_ptr<store::file_system> files) {
  return [files = std::move(files)](const std::string& writer_id, std::size_t pending_objects) {
    return store::open_directory_storage(files, {.writer_id = writer_id, .pending_objects = pending_objects});
  };
}

/// Makes a folder and those above it that are missing, durably.
status make_folders(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> folders_above;
  auto path = std::filesystem::absolute(folder, failed);
  while (!failed && path.has_relative_path() && !std::filesystem::exists(path, failed)) {
    path = path.parent_path();
    folders_above.push_back(path);
  }
  if (!failed) std::filesystem::create_directories(folder, failed);
  if (failed) return {status_code::io_error, folder + ": " + failed.message(), failed.value()};
  for (const std::string& each : folders_above) {
    CUTPOINT_TRY(const auto files, store::open_file_system(each));
    if (const auto synced = store::sync_names(*files, ""); !synced) return synced.error();
  }
  return {};
}

status check_bounds(const store_settings& settings) {
  const auto check = [](std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) -> status {
    if (value >= least && value <= most) return {};
    return {status_code::invalid_argument, fmt::format("{} = {} must be from {} to {}", name, value, least, most)};
  };
  CUTPOINT_RETURN_IF_FAILED(check("compression_level", settings.compression_level, 0, highest_compression_level));
  if (status bytes =
          check("container_bytes", settings.container_bytes, store::least_container_bytes, store::most_container_bytes);
      !bytes.ok()) {
    return bytes;
  }
  const auto& kind = fingerprints()[static_cast<std::size_t>(settings.fingerprint)];
  if (settings.is_for_experiments || kind.resists_collisions) return {};
  return {status_code::invalid_argument,
          fmt::format("{}: collisions can be made on purpose, so a store does not trust it", kind.name)};
}

}  // namespace

status store_settings::use(const context_file& file) {
  if (file.others && !cuts.empty()) {
    return {status_code::invalid_argument,
            "the context says how the other files are cut: the cuts of the store cannot say it, too"};
  }
  if (file.others) cuts = file.others->canonical();
  context = file.rules;
  return {};
}

status backup_store::create(const std::string& folder, const store_settings& settings, const store_secret& secret) {
  CUTPOINT_RETURN_IF_FAILED(check_bounds(settings));
  CUTPOINT_RETURN_IF_FAILED(make_folders(folder));
  CUTPOINT_TRY(auto files, store::open_file_system(folder));
  CUTPOINT_RETURN_IF_FAILED(named_store::in_store(folder, store::make_storage_folders(*files)));
  return create({opener_of(std::move(files)), folder}, settings, secret);
}

status backup_store::create(const store_storage& where, const store_settings& settings, const store_secret& secret) {
  CUTPOINT_RETURN_IF_FAILED(check_bounds(settings));
  const auto store_secret = secret_of(secret);
  const bool compresses = settings.compression_level != 0;
  store::store_config config{.fingerprint = settings.fingerprint,
                             .codec = compresses ? store::record_codec::zstd : store::record_codec::none,
                             .level = static_cast<std::uint8_t>(settings.compression_level),
                             .container_bytes = settings.container_bytes,
                             .cuts = settings.cuts,
                             .context = settings.context};
  if (config.cuts.empty() && store_secret) config.cuts = default_keyed_cuts;
  if (config.cuts.empty()) {
    CUTPOINT_TRY(const auto sizes, size_settings(std::string(usual_store_sizes)));
    CUTPOINT_TRY(const auto usual, chunker_at(usual_store_algorithm, sizes));
    config.cuts = usual.canonical();
  }
  const auto objects = where.open(store::new_session_id(), 0);
  const auto insecure = settings.accepts_insecure_cuts ? store::insecure_cuts::accepted : store::insecure_cuts::refused;
  const status outcome = store::make_store(*objects, config, store_secret, insecure);
  if (store::is_presence(outcome)) return {status_code::io_error, where.name + ": a store is there already", EEXIST};
  if (!outcome.ok()) return named_store::in_store(where.name, outcome);
  static_cast<void>(store::put_reserve(*objects));  // the store exists without one, too
  return outcome;
}

result<backup_store> backup_store::open(const std::string& folder, const store_secret& secret) {
  CUTPOINT_TRY(auto files, store::open_file_system(folder));
  auto store = open({opener_of(std::move(files)), folder}, secret);
  if (store) store->implementation_->folder = folder;
  return store;
}

result<backup_store> backup_store::open(const store_storage& where, const store_secret& secret) {
  CUTPOINT_TRY(auto opened_store,
               named_store::in_store(where.name, store::open_store::open(where.open, secret_of(secret))));
  auto inside = std::make_unique<named_store>();
  inside->name = where.name;
  const store::store_config& config = opened_store->config();
  inside->settings = {.cuts = config.cuts,
                      .fingerprint = config.fingerprint,
                      .compression_level = config.level,
                      .container_bytes = config.container_bytes,
                      .context = config.context};
  inside->opened_store = std::move(opened_store);
  return backup_store(std::move(inside));
}

backup_store::backup_store(std::unique_ptr<named_store> inside) noexcept : implementation_(std::move(inside)) {}
backup_store::backup_store(backup_store&&) noexcept = default;
backup_store& backup_store::operator=(backup_store&&) noexcept = default;
backup_store::~backup_store() = default;

store::open_store& backup_store::internals() noexcept { return *implementation_->opened_store; }
const store_settings& backup_store::settings() const noexcept { return implementation_->settings; }
bool backup_store::is_encrypted() const noexcept {
  return implementation_->opened_store->config().encryption == store::seal_kind::aes_256_gcm;
}

std::vector<std::string> backup_store::insecure_cuts() const {
  return store::warnings_of_insecure_cuts(implementation_->opened_store->config());
}

std::string backup_store::identity() const {
  return to_hex(digest{implementation_->opened_store->config().identity, 32});
}

result<bool> backup_store::survives_power_cuts() {
  return implementation_->named(implementation_->opened_store->objects().survives_power_cuts());
}

void backup_store::use_index(std::shared_ptr<store_index> index) {
  implementation_->opened_store->use_index(std::move(index));
}

status backup_store::fill_index(const cancellation* cancel) {
  store::open_store& opened_store = *implementation_->opened_store;
  if (!opened_store.index())
    return {status_code::invalid_argument,
            implementation_->name + ": use_index was not called, so there is no index to fill"};
  CUTPOINT_RETURN_IF_FAILED(implementation_->named(opened_store.reopen_shards()));
  store::shard_index& shards = opened_store.shards();
  store::index_of_caller index(opened_store.index(), shards);
  for (const store::shard_container& each : shards.containers()) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    CUTPOINT_RETURN_IF_FAILED(implementation_->named(index.add(each.name)));
  }
  return {};
}

result<std::uint64_t> backup_store::log_number() {
  const auto skip = [](const store::object_name&, const status&) {};
  CUTPOINT_TRY(const auto log, implementation_->named(implementation_->opened_store->follow_log(skip)));
  return log->newest;
}

result<std::vector<store_key>> backup_store::keys() {
  const auto& used = implementation_->opened_store->opened_by();
  if (!used)
    return status(status_code::invalid_argument,
                  implementation_->name + ": the store is not encrypted: it has no keys");
  CUTPOINT_TRY(const auto log, implementation_->named(implementation_->opened_store->read_log()));
  CUTPOINT_TRY(const auto listed, implementation_->named(store::list_keys(*implementation_->opened_store, log)));
  std::vector<store_key> keys;
  for (const store::listed_key& each : listed) {
    const bool is_password = each.kind == store::secret_kind::password;
    keys.push_back(
        {each.id, is_password ? store_secret::kind::password : store_secret::kind::key_file, each.id == used->id});
  }
  return keys;
}

result<std::string> backup_store::add_key(const store_secret& secret) {
  const auto& used = implementation_->opened_store->opened_by();
  const auto new_secret = secret_of(secret);
  if (!used || !new_secret) {
    return status(status_code::invalid_argument,
                  implementation_->name + (used ? ": a key needs a password or a key file"
                                                : ": the store is not encrypted: it has no keys"));
  }
  return implementation_->named(store::add_key(*implementation_->opened_store, *new_secret));
}

status backup_store::remove_key(const std::string& id) {
  if (const auto all = keys(); !all) return all.error();
  return implementation_->named(store::remove_key(*implementation_->opened_store, id));
}

// Which lanes work for a store, and where their time went.

namespace {

constexpr std::string_view processor_limit = "processor";

double seconds_per_byte(const stage_work& work, std::uint64_t bytes) {
  return bytes == 0 ? 0 : work.seconds / static_cast<double>(bytes);
}

}  // namespace

store_class_work& store_class_work::operator+=(const store_class_work& other) noexcept {
  bytes += other.bytes;
  new_raw_bytes += other.new_raw_bytes;
  new_stored_bytes += other.new_stored_bytes;
  return *this;
}

std::vector<stage_cost> store_work::stages() const {
  std::vector<stage_cost> costs = costs_of_stages(feed.lanes, reading);
  costs.pop_back();  // the delivery is what follows
  costs.push_back({"indexing", indexing, indexing.seconds});
  costs.push_back({"compression", compression});
  costs.push_back({"writing", writing, writing.seconds});
  return costs;
}

std::optional<std::string> store_work::bottleneck() const {
  if (feed.fed_bytes == 0) return std::nullopt;
  return bottleneck_of(stages(), devices(), thread_count);
}

std::vector<plan_prediction> store_work::predictions() const {
  std::vector<plan_prediction> all = feed.predictions;
  const auto lanes = static_cast<double>(thread_count);
  for (plan_prediction& each : all) {
    // What processors compress they do besides their other work.
    auto processor = std::ranges::find(each.limits, processor_limit, &rate_limit::name);
    const bool is_busy = processor != each.limits.end() && processor->bytes_per_second > 0;
    const double busy =
        (is_busy ? 1 / processor->bytes_per_second : 0) + seconds_per_byte(compression, feed.fed_bytes) / lanes;
    std::erase_if(each.limits, [](const rate_limit& limit) {
      return limit.name == processor_limit || limit.name == to_string(stage::delivery);
    });
    for (const auto& [name, seconds] :
         {std::pair(processor_limit, busy),
          std::pair(std::string_view("indexing"), seconds_per_byte(indexing, feed.fed_bytes)),
          std::pair(std::string_view("writing"), seconds_per_byte(writing, feed.fed_bytes))}) {
      if (seconds > 0) each.limits.push_back({std::string(name), 1 / seconds});
    }
    std::ranges::stable_sort(each.limits, {}, &rate_limit::bytes_per_second);
    if (!each.limits.empty()) each.bytes_per_second = each.limits.front().bytes_per_second;
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &plan_prediction::bytes_per_second);
  return all;
}

feed_options backup_store::job(const store_lane_options& lanes) const { return implementation_->job(lanes); }

feed_options backup_store::named_store::job(const store_lane_options& lanes) const {
  return {.cuts = *parse_canonical(settings.cuts),
          .rule_cuts = settings.context.cuts(),
          .fingerprint = settings.fingerprint,
          .where = lanes.where,
          .rates = lanes.rates,
          .devices = lanes.devices,
          .device_memory_bytes = lanes.device_memory_bytes,
          .segment_bytes = lanes.segment_bytes,
          .batch_bytes = lanes.batch_bytes};
}

result<feed_options> backup_store::named_store::feed_of(const engine& threads, const store_lane_options& lanes,
                                                        std::uint64_t memory_bytes, const cancellation* cancel) {
  feed_options feed = job(lanes);
  CUTPOINT_RETURN_IF_FAILED(threads.check_devices(feed));
  if (feed.rates == nullptr && lanes.measures_rates) {
    const auto key = std::pair(threads.thread_count(), lanes.devices);
    if (!measured_rates.contains(key)) {
      CUTPOINT_TRY(auto measured, measure_rates(feed, threads.thread_count()));
      measured_rates.emplace(key, std::move(measured));
    }
    feed.rates = measured_rates.at(key);
  }
  feed.cuts = opened_store->cuts();
  feed.rule_cuts = opened_store->context().cuts();
  feed.fingerprint = opened_store->fingerprint();
  feed.memory_bytes = memory_bytes;
  feed.cancel = cancel;
  return feed;
}

void backup_store::named_store::report_session(const engine& threads, std::chrono::steady_clock::time_point begin,
                                               store_work work, store::deduplicator& records,
                                               const store_work_function& receiver) {
  records.add_work(work);
  report_work(threads, begin, std::move(work), receiver);
}

void backup_store::named_store::report_work(const engine& threads, std::chrono::steady_clock::time_point begin,
                                            store_work work, const store_work_function& receiver) {
  if (!receiver) return;
  work.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  work.thread_count = threads.thread_count();
  receiver(work);
}

}  // namespace cutpoint
