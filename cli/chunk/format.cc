// A class for each format.
#include "cli/chunk/format.h"

#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

namespace {

class text_format final : public chunk_format {
 public:
  std::string header(std::string_view canonical, std::string_view fingerprint) override {
    return fmt::format("# cuts {}\n# offset length {} path\n", canonical, fingerprint);
  }
  std::string line(const std::string& path, const chunk& where, const digest& fingerprint) override {
    const std::string hex = to_hex(fingerprint);
    return fmt::format("{} {} {} {}\n", where.offset, where.length, hex.empty() ? "-" : hex, text_path(path));
  }
  std::string failure(const std::string&, const status& why) override {
    return fmt::format("# failed: {}\n", printable(why.message()));
  }
};

class lengths_format final : public chunk_format {
 public:
  std::string header(std::string_view, std::string_view) override { return {}; }
  std::string line(const std::string&, const chunk& where, const digest&) override {
    return fmt::format("{}\n", where.length);
  }
  std::string failure(const std::string&, const status&) override { return {}; }
};

/// Quotes a field of comma-separated values as RFC 4180 says, if it needs quotes.
std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

class csv_format final : public chunk_format {
 public:
  std::string header(std::string_view canonical, std::string_view fingerprint) override {
    cuts_ = csv_field(canonical);
    fingerprint_ = fingerprint;
    return "path,offset,length,digest,fingerprint,cuts\n";
  }
  std::string line(const std::string& path, const chunk& where, const digest& fingerprint) override {
    return fmt::format("{},{},{},{},{},{}\n", csv_field(path), where.offset, where.length, to_hex(fingerprint),
                       fingerprint_, cuts_);
  }
  std::string failure(const std::string&, const status&) override { return {}; }

 private:
  std::string cuts_;
  std::string fingerprint_;
};

class jsonl_format final : public chunk_format {
 public:
  std::string header(std::string_view canonical, std::string_view fingerprint) override {
    return json_line({{"cuts", canonical}, {"fingerprint", fingerprint}});
  }
  std::string line(const std::string& path, const chunk& where, const digest& fingerprint) override {
    json record = json_path(path);
    record["offset"] = where.offset;
    record["length"] = where.length;
    if (fingerprint.size != 0) record["digest"] = to_hex(fingerprint);
    return json_line(record);
  }
  std::string failure(const std::string& path, const status& why) override {
    json record = json_path(path);
    record["error"] = why.message();
    return json_line(record);
  }
};

template <class Format>
std::unique_ptr<chunk_format> make() {
  return std::make_unique<Format>();
}

struct format_maker {
  std::unique_ptr<chunk_format> (*make)();
};

constexpr choice<format_maker, 4> formats = {{{"text", {make<text_format>}},
                                              {"lengths", {make<lengths_format>}},
                                              {"csv", {make<csv_format>}},
                                              {"jsonl", {make<jsonl_format>}}}};

}  // namespace

std::string text_path(std::string_view path) {
  std::string doubled;
  for (const char c : path) {
    if (c == '\\') doubled += '\\';
    doubled += c;
  }
  return printable(doubled);
}

json json_path(std::string_view path) {
  json record;
  add_text(record, "path", path);
  return record;
}

std::vector<std::string_view> chunk_format_names() { return names_in(formats); }

result<std::unique_ptr<chunk_format>> make_chunk_format(std::string_view name) {
  CUTPOINT_TRY(const auto maker, chosen("format", name, formats));
  return maker.make();
}

}  // namespace cutpoint::cli
