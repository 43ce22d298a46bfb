#include "bench/kernels/answers.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/common/inputs.h"

namespace cutpoint::bench {

namespace {

status wrong(std::string message) { return {status_code::backend_failure, std::move(message)}; }

result<std::string> hex_digest(fingerprint_kind kind, byte_span bytes) {
  result<fingerprinter> maker = fingerprinter::make(kind);
  if (!maker) return maker.error();
  const result<digest> made = (*maker)(bytes);
  if (!made) return made.error();
  return to_hex(*made);
}

byte_span bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

struct published_digest {
  fingerprint_kind kind;
  std::string_view text;
  std::string_view hex;
};

/// FIPS 180-4 examples (NIST), RFC 1321 appendix A.5, the sanity test of xxHash, and BLAKE3's test vectors.
constexpr std::array<published_digest, 7> published_digests = {{
    {fingerprint_kind::none, "abc", ""},
    {fingerprint_kind::sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {fingerprint_kind::sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {fingerprint_kind::sha512_256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
    {fingerprint_kind::md5, "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {fingerprint_kind::xxh3, "", "99aa06d3014798d86001c324468d497f"},
    {fingerprint_kind::blake3, "", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
}};

status check_fingerprints() {
  for (const fingerprint_info& info : fingerprints()) {
    const auto published = std::find_if(published_digests.begin(), published_digests.end(),
                                        [&](const published_digest& p) { return p.kind == info.kind; });
    if (published == published_digests.end()) return wrong(fmt::format("{}: no published digest to check", info.name));
    const result<std::string> hex = hex_digest(info.kind, bytes_of(published->text));
    if (!hex) return hex.error();
    if (*hex != published->hex) {
      return wrong(fmt::format("{}: the digest of '{}' is {}, and {} is published", info.name, published->text, *hex,
                               published->hex));
    }
  }
  return {};
}

/// An entry of goldens.json as the command takes it.
result<named_chunker> chunker_of(const nlohmann::json& arguments) {
  std::string name;
  std::vector<parameter_setting> settings;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const auto option = arguments[i].get<std::string>();
    const auto value = arguments[i + 1].get<std::string>();
    if (option == "--size") {
      const std::size_t first = value.find(':');
      const std::size_t last = value.rfind(':');
      settings.push_back({"min_bytes", value.substr(0, first)});
      settings.push_back({"avg_bytes", value.substr(first + 1, last - first - 1)});
      settings.push_back({"max_bytes", value.substr(last + 1)});
    } else if (option == "--param") {
      const std::size_t equals = value.find('=');
      settings.push_back({value.substr(0, equals), value.substr(equals + 1)});
    } else {
      name = value;
    }
  }
  return make_chunker(name, settings);
}

status check_golden(const nlohmann::json& expected, const chunker& chunker, byte_span input) {
  const std::vector<chunk> chunks = chunker.find_cuts(input);
  std::string lengths;
  for (const chunk& c : chunks) lengths += fmt::format("{}\n", c.length);
  const result<std::string> hex = hex_digest(fingerprint_kind::sha256, bytes_of(lengths));
  if (!hex) return hex.error();
  if (chunks.size() == expected.at("chunks") && *hex == expected.at("sha256")) return {};
  return wrong(fmt::format("{}: {} chunks, and {} are known; the lengths have SHA-256 {}, and {} is known",
                           chunker.canonical(), chunks.size(), expected.at("chunks").get<std::uint64_t>(), *hex,
                           expected.at("sha256").get<std::string>()));
}

/// The part of a stream that decides the chunk at `start`.
stream_window window_at(const chunker& chunker, byte_span stream, std::uint64_t start) {
  const std::uint64_t before = std::min(start, chunker.behind());
  const std::uint64_t after = std::min<std::uint64_t>(stream.size() - start, chunker.reach());
  return {.bytes = stream.subspan(start - before, before + after),
          .start = before,
          .at_end = start + after == stream.size()};
}

status check_restarts(const configuration& configuration, byte_span input) {
  std::uint64_t start = 0;
  for (const chunk& c : configuration.chunker.find_cuts(input)) {
    const auto length = configuration.chunker.next_cut(window_at(configuration.chunker, input, start));
    if (c.offset != start || c.length == 0 || length != c.length) {
      return wrong(fmt::format("{}: the chunk [{}, +{}) is [{}, +{}) when cut from its start", configuration.name,
                               c.offset, c.length, start, length.value_or(0)));
    }
    start += c.length;
  }
  return start == input.size()
             ? status()
             : wrong(fmt::format("{}: the chunks end at {} of {} bytes", configuration.name, start, input.size()));
}

status check_cuts(const nlohmann::json& goldens, std::span<const configuration> configurations, byte_span input) {
  std::set<std::string> known;
  for (const auto& [title, entry] : goldens.at("cuts").items()) {
    const result<named_chunker> made = chunker_of(entry.at("args"));
    if (!made) return made.error();
    known.insert(made.value().chunker.canonical());
    if (status s = check_golden(entry.at("of").at("D2"), made.value().chunker, input); !s.ok()) return s;
  }
  for (const configuration& c : configurations) {
    if (known.count(c.chunker.canonical()) != 0) continue;
    if (status s = check_restarts(c, input); !s.ok()) return s;
  }
  return {};
}

}  // namespace

status check_answers(const std::string& goldens, std::span<const configuration> configurations) {
  if (status s = check_fingerprints(); !s.ok()) return s;
  const result<byte_vector> input = golden_input();
  if (!input) return input.error();
  const result<std::string> hex = hex_digest(fingerprint_kind::sha256, *input);
  if (!hex) return hex.error();
  try {
    std::ifstream file(goldens);
    if (!file) return {status_code::io_error, fmt::format("{}: cannot be read", goldens)};
    const auto json = nlohmann::json::parse(file);
    if (*hex != json.at("inputs").at("D2").at("sha256")) return wrong("D2: the golden input is made wrongly");
    return check_cuts(json, configurations, *input);
  } catch (const nlohmann::json::exception& error) {
    return {status_code::io_error, fmt::format("{}: {}", goldens, error.what())};
  }
}

}  // namespace cutpoint::bench
