// A picture of a report: a dot for each rate and a line from its slowest round to its fastest.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/bench/report.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

namespace {

constexpr double label_width = 300;
constexpr double plot_width = 420;
constexpr double value_width = 120;
constexpr double row_height = 18;

/// Replaces the signs that mark elements.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string line_from(double x, double y, double to_x, double to_y, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x, y, to_x, to_y, style);
}

}  // namespace

std::string chart_of(const json& report, std::string_view title) {
  const std::vector<bench_line> lines = lines_of(report);
  double lowest = GiB;
  double highest = GiB;
  for (const bench_line& line : lines) {
    lowest = std::min(lowest, line.lowest.value_or(line.bytes_per_second));
    highest = std::max(highest, line.highest.value_or(line.bytes_per_second));
  }
  // Whole powers of two, so that the marks of the axis fit.
  const double first = std::floor(std::log2(lowest / GiB));
  const double octaves = std::max(1.0, std::ceil(std::log2(highest / GiB)) - first);
  const auto x_of = [&](double rate) { return label_width + plot_width * (std::log2(rate / GiB) - first) / octaves; };
  std::string rows;
  std::string_view table;
  double y = 2 * row_height;
  for (const bench_line& line : lines) {
    if (title_of(line) != table) {
      table = title_of(line);
      y += 2 * row_height;
      rows += text_at(10, y, "start", fmt::format("{}, GiB/s", table));
      y += row_height;
      for (double octave = 0; octave <= octaves; ++octave) {
        rows +=
            text_at(label_width + plot_width * octave / octaves, y, "middle",
                    octaves > 10 && std::fmod(octave, 2) != 0 ? "" : fmt::format("{:g}", std::exp2(first + octave)));
      }
    }
    y += row_height;
    rows += line_from(label_width, y - 4, label_width + plot_width, y - 4, "stroke=\"#ddd\"");
    rows += text_at(label_width - 10, y, "end", label(line));
    rows +=
        line_from(x_of(line.lowest.value_or(line.bytes_per_second)), y - 4,
                  x_of(line.highest.value_or(line.bytes_per_second)), y - 4, "stroke=\"#0072b2\" stroke-width=\"3\"");
    rows += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#0072b2\"/>\n", x_of(line.bytes_per_second),
                        y - 4);
    rows += text_at(label_width + plot_width + 10, y, "start",
                    fmt::format("{} {}", gib_per_second(line.bytes_per_second), line.back_end));
  }
  const double width = label_width + plot_width + value_width;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             width, y + row_height) +
         text_at(10, row_height, "start", title.substr(0, title.find('\n'))) + rows + "</svg>\n";
}

}  // namespace cutpoint::cli
