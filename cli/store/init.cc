// `cutpoint init`: makes a store.
#include <array>
#include <cerrno>
#include <span>
#include <variant>

#include <cutpoint/algorithms.h>
#include <cutpoint/fingerprint.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/chunking_options.h"
#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class init_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  std::string encryption_;
  cut_options cuts_;
  context_option context_;
  std::string hash_ = "blake3";
  std::string compression_ = "zstd";
  std::string container_size_ = "32M";
  bool is_for_experiments_ = false;
  bool accepts_insecure_cuts_ = false;
  verbosity level_ = verbosity::normal;
};

/// Warns of what the cuts of one kind of files give up, besides what every opening of the store warns of.
void warn_of_cuts(const std::string& place, const chunker& cuts, bool is_encrypted, const console& say) {
  const algorithm_parameters& parameters = cuts.parameters();
  const auto* const gear = std::get_if<borg2_fastcdc_parameters>(&parameters);
  if (!is_encrypted && gear != nullptr && gear->key != borg2_fastcdc_parameters().key) {
    say.warning(place + cuts.canonical() +
                ": the store is not encrypted, so whoever reads it reads this key, too, and its cuts hide nothing");
  }
  if (!is_encrypted) return;
  if (cuts.fixed_chunk_bytes()) {
    say.warning(fmt::format("{}{} takes no key: lengths of chunks tell how long the files of the class are", place,
                            cuts.canonical()));
  }
  if (std::holds_alternative<toeplitz_aes_parameters>(parameters) ||
      std::holds_alternative<rabin_aes_parameters>(parameters)) {
    say.warning(fmt::format(
        "{}{}: a digest of 64 bits promises something for {} of data only; toeplitz128-aes costs no more", place,
        cuts.canonical(), std::holds_alternative<rabin_aes_parameters>(parameters) ? "tens of MiB" : "a GiB"));
  }
}

void warn_of_cuts(const backup_store& store, const console& say) {
  for (const std::string& warning : store.insecure_cuts()) say.warning(warning);
  warn_of_cuts("", store.job().cuts, store.is_encrypted(), say);
  for (const context_rule& rule : store.settings().context.rules())
    warn_of_cuts("class " + rule.name + ": ", rule.cuts, store.is_encrypted(), say);
}

/// Creates a key file with random bytes, if it does not exist. Errors: io_error.
status make_key_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno == EEXIST) return {};
  if (file < 0) return system_failure(path, "created", errno);
  std::array<std::uint8_t, 32> bytes = {};
  bool is_written = ::getentropy(bytes.data(), bytes.size()) == 0;
  for (std::span<const std::uint8_t> rest = bytes; is_written && !rest.empty();) {
    const ssize_t count = ::write(file, rest.data(), rest.size());
    is_written = count >= 0;
    if (is_written) rest = rest.subspan(static_cast<std::size_t>(count));
  }
  int error = is_written && ::fsync(file) == 0 ? 0 : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  ::unlink(path.c_str());  // a part of a key is none
  return system_failure(path, "written", error);
}

}  // namespace

void init_command::add_options(option_list& options) {
  store_.add_to(options);
  options.add_value("--encryption", encryption_, "NAME", "none, password or key-file (must be given)");
  cuts_.add_to(options);
  options.find("--algorithm").meaning =
      "Chunking algorithm; 'cutpoint list' shows all (default: one that cuts chunks of about 64 KiB)";
  context_.add_to(options);
  options.add_value("--hash", hash_, "NAME", "Fingerprint of chunks: sha256 or blake3");
  options.add_value("--compression", compression_, "NAME", "zstd or none");
  options.add_value("--container-size", container_size_, "SIZE", "Length of containers");
  options.add_flag("--for-experiments", is_for_experiments_, "Accept fingerprints that a store must not trust");
  options.add_flag(
      "--insecure-cuts", accepts_insecure_cuts_,
      "Accept borg2-fastcdc and borg1 in an encrypted store: lengths of chunks give their key away, and then tell "
      "which known contents are stored");
  options.add_quiet(level_);
}

result<exit_code> init_command::run() {
  const console say(level_);
  CUTPOINT_RETURN_IF_FAILED(store_.check_location());
  if (encryption_.empty()) {
    return usage_error(
        "--encryption is missing: give password (which is asked for, or --password-file or --password-command names "
        "it), "
        "key-file (with --key-file) or none");
  }
  if (encryption_ != "none" && encryption_ != "password" && encryption_ != "key-file") {
    return usage_error("--encryption " + encryption_ + ": the names are none, password and key-file");
  }
  if (compression_ != "zstd" && compression_ != "none") {
    return usage_error("--compression " + compression_ + ": the names are zstd and none");
  }
  const bool needs_password = encryption_ == "password";
  const bool needs_key_file = encryption_ == "key-file";
  const secret_options& secrets = store_.secret();
  const bool asks = needs_password && secrets.can_ask();
  if (!asks && (needs_password != secrets.has_password() || needs_key_file == secrets.key_file().empty())) {
    return usage_error("--encryption " + encryption_ +
                       (needs_password   ? " needs --password-file or --password-command alone"
                        : needs_key_file ? " needs --key-file alone"
                                         : " takes no password and no key file") +
                       (secrets.is_given() ? ", but given is " + secrets.names(" and ")
                        : needs_password   ? secrets.password_variable_note()
                                           : ""));
  }
  CUTPOINT_TRY(const auto container_bytes, checked_size("--container-size", container_size_, 64 * KiB, 128 * MiB));
  CUTPOINT_TRY(const auto kind, parse_fingerprint(hash_));
  if (kind == fingerprint_kind::none) return usage_error("--hash none: a store needs fingerprints");
  store_settings settings{.cuts = {},
                          .fingerprint = kind,
                          .compression_level = compression_ == "zstd" ? usual_compression_level : 0,
                          .container_bytes = static_cast<std::uint32_t>(container_bytes),
                          .is_for_experiments = is_for_experiments_,
                          .accepts_insecure_cuts = accepts_insecure_cuts_};
  // An encrypted store sets the keys of its algorithms.
  if (cuts_.is_given()) {
    CUTPOINT_TRY(const auto cuts, cuts_.checked(encryption_ == "none" ? "fastcdc" : "toeplitz128-aes"));
    settings.cuts = cuts.chunker.canonical();
    if (!takes_secret_key(cuts.chunker)) {
      for (const std::string& warning : cuts.warnings) say.warning(warning);
    }
  }
  CUTPOINT_TRY(const auto context,
               context_.checked(encryption_ == "none" ? std::nullopt : std::optional(secret_key())));
  CUTPOINT_RETURN_IF_FAILED(settings.use(context));
  for (const std::string& warning : context.warnings) say.warning(warning);
  if (needs_key_file) {
    if (const status created = make_key_file(secrets.key_file()); !created.ok()) return fail(say, created);
  }
  CUTPOINT_TRY(const auto secret, asks ? secret_options::ask_new(store_.location()) : secrets.read());
  const status created = backup_store::create(store_.location(), settings, secret);
  if (created.code() == status_code::invalid_argument || created.code() == status_code::unknown_name) return created;
  if (!created.ok()) return fail(say, created);
  auto store = backup_store::open(store_.location(), secret);
  if (!store) return fail(say, store.error());
  const store_settings& settings_of_store = store->settings();
  std::string text = fmt::format("made a store in {}\n", printable(store_.location()));
  text += line("encryption", encryption_);
  text += settings_lines(settings_of_store);
  text += line("containers", human_bytes(as_double(settings_of_store.container_bytes)));
  warn_of_cuts(*store, say);
  if (const auto asked = warn_of_power_cuts(store_.location(), *store, say); !asked) return fail(say, asked.error());
  if (needs_password) text += "Without the password nobody can read the store: keep it elsewhere, too.\n";
  if (needs_key_file)
    text +=
        fmt::format("Without {} nobody can read the store: keep a copy elsewhere.\n", printable(secrets.key_file()));
  return write_report(text, false, say);
}

std::unique_ptr<subcommand> make_init_command() { return std::make_unique<init_command>(); }

}  // namespace cutpoint::cli
