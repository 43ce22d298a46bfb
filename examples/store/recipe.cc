#include "recipe.h"

#include <array>
#include <cerrno>
#include <charconv>

#include <cutpoint/catalog.h>

namespace store {

using cutpoint::status_code;

namespace {

constexpr std::string_view first_line = "cutpoint-store-recipe 1";
constexpr std::string_view cuts_word = "cuts ";
constexpr std::string_view hash_line = "fingerprint sha256";
constexpr std::string_view end_word = "end ";
constexpr std::size_t hex_length = 64;

/// Removes and returns the word before the next space, or the rest of the line.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

std::optional<std::uint64_t> as_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

bool is_digest(std::string_view word) {
  return word.size() == hex_length && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

result<line_chain> line_chain::make() {
  auto hasher = cutpoint::fingerprinter::make(hash);
  if (!hasher) return hasher.error();
  return line_chain(*std::move(hasher));
}

status line_chain::add(std::string_view line) {
  joined_.assign(last_.bytes.begin(), last_.bytes.end());
  joined_ += line;
  const auto next = hasher_(byte_span(reinterpret_cast<const std::uint8_t*>(joined_.data()), joined_.size()));
  if (!next) return next.error();
  last_ = *next;
  return {};
}

recipe_writer::recipe_writer(std::string path, descriptor file, line_chain chain) noexcept
    : path_(std::move(path)), file_(std::move(file)), chain_(std::move(chain)) {}

result<recipe_writer> recipe_writer::create(const std::string& path, const std::string& cuts) {
  auto chain = line_chain::make();
  if (!chain) return chain.error();
  auto file = create_file(path);
  if (!file) return file.error();
  recipe_writer made(path, *std::move(file), *std::move(chain));
  for (const std::string& line : {std::string(first_line), std::string(cuts_word) + cuts, std::string(hash_line)}) {
    if (status added = made.append(line); !added.ok()) return added;
  }
  return made;
}

status recipe_writer::add(const recipe_line& line) {
  byte_count_ += line.length * line.count;
  return append(line.digest + " " + std::to_string(line.length) + " " + std::to_string(line.count));
}

status recipe_writer::append(const std::string& line) {
  constexpr std::size_t written_at_once = 1 << 16;
  waiting_ += line + "\n";
  if (status added = chain_.add(line); !added.ok()) return added;
  return waiting_.size() < written_at_once ? status() : write_out();
}

status recipe_writer::write_out() {
  status written = write_all(file_.number(), waiting_, path_);
  waiting_.clear();
  return written;
}

status recipe_writer::finish() {
  waiting_ += std::string(end_word) + std::to_string(byte_count_) + " " + chain_.hex() + "\n";
  if (status written = write_out(); !written.ok()) return written;
  return flush_file(file_, path_);
}

recipe_reader::recipe_reader(std::string path, std::FILE* file, line_chain chain) noexcept
    : path_(std::move(path)), file_(file), chain_(std::move(chain)) {}

result<recipe_reader> recipe_reader::open(const std::string& path) {
  auto chain = line_chain::make();
  if (!chain) return chain.error();
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return cutpoint::system_failure(path, "opened", errno);
  recipe_reader opened(path, file, *std::move(chain));
  if (status head = opened.read_head(); !head.ok()) return head;
  return opened;
}

status recipe_reader::damaged(const std::string& why) const {
  return {status_code::invalid_argument,
          path_ + ": is damaged: line " + std::to_string(line_number_) + (line_number_ == 0 ? "" : " ") + why};
}

result<std::string> recipe_reader::read_line() {
  std::array<char, 4096> text = {};  // no valid line is longer
  ++line_number_;
  if (std::fgets(text.data(), text.size(), file_.get()) == nullptr) {
    if (std::ferror(file_.get()) != 0) return cutpoint::system_failure(path_, "read", errno);
    return damaged("is missing");
  }
  std::string line(text.data());
  if (!line.ends_with('\n')) return damaged("has no end");
  line.pop_back();
  return line;
}

status recipe_reader::read_head() {
  for (const std::string_view expected : {first_line, cuts_word, hash_line}) {
    const auto line = read_line();
    if (!line) return line.error();
    const bool names_cuts = expected == cuts_word;
    if (names_cuts ? !line->starts_with(cuts_word) : *line != expected) {
      return damaged("should be '" + std::string(expected) + "'");
    }
    if (names_cuts) {
      const auto cuts = cutpoint::parse_canonical(line->substr(cuts_word.size()));
      if (!cuts) return damaged("names no cuts: " + cuts.error().message());
      longest_ = cuts->reach();
    }
    if (status added = chain_.add(*line); !added.ok()) return added;
  }
  return {};
}

result<std::optional<recipe_line>> recipe_reader::next() {
  const auto line = read_line();
  if (!line) return line.error();
  if (line->starts_with(end_word)) {
    if (status end = check_end(std::string_view(*line).substr(end_word.size())); !end.ok()) return end;
    return std::optional<recipe_line>();
  }
  std::string_view words = *line;
  const std::string digest(take_word(words));
  const auto length = as_number(take_word(words));
  const auto count = as_number(words);
  if (!is_digest(digest) || !length || !count || *length == 0 || *count == 0) {
    return damaged("is no 'DIGEST LENGTH COUNT'");
  }
  if (*length > longest_) return damaged("has a chunk longer than " + std::to_string(longest_) + " bytes");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(*length, *count, &bytes) || __builtin_add_overflow(byte_count_, bytes, &byte_count_)) {
    return damaged("makes the stream longer than 2^64 bytes");
  }
  if (status added = chain_.add(*line); !added.ok()) return added;
  return std::optional(recipe_line{.digest = digest, .length = *length, .count = *count});
}

status recipe_reader::check_end(std::string_view words) {
  if (as_number(take_word(words)) != byte_count_) {
    return damaged("should say that the chunks are " + std::to_string(byte_count_) + " bytes");
  }
  if (words != chain_.hex()) return damaged("is not the check of the lines before it");
  if (std::fgetc(file_.get()) != EOF) return damaged("should be the last");
  return {};
}

status check_recipe(const std::string& path) {
  auto recipe = recipe_reader::open(path);
  if (!recipe) return recipe.error();
  for (;;) {
    const auto line = recipe->next();
    if (!line) return line.error();
    if (!*line) return {};
  }
}

}  // namespace store
