// A protected word has a control character in front. A word that already begins with this character is protected too.
#include "cli/common/words.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace cutpoint::cli {

namespace {

constexpr char guard = '\x01';

bool needs_guard(std::string_view word, bool is_path) {
  const bool is_bracketed = word.starts_with('[') && word.ends_with(']');
  const bool looks_like_option = word.starts_with('-') && word != "-";
  return word == "++" || is_bracketed || word.starts_with(guard) || (is_path && looks_like_option);
}

}  // namespace

std::vector<std::string> protected_words(int argc, char** argv) {
  std::vector<std::string> words;
  bool are_paths = false;
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (word == "--" && !are_paths) {
      are_paths = true;
    } else if (!are_paths && word.starts_with("--") && word.ends_with('=')) {
      words.push_back(std::string(word) + guard);
    } else {
      words.push_back(needs_guard(word, are_paths) ? guard + std::string(word) : std::string(word));
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::optional<std::size_t> words_after_options(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  const auto mark = std::ranges::find(words, std::string_view("--"));
  return mark == words.end() ? std::nullopt : std::optional<std::size_t>(words.end() - mark - 1);
}

std::string unprotected(const std::string& word) { return word.substr(word.starts_with(guard) ? 1 : 0); }

}  // namespace cutpoint::cli
