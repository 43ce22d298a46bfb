// The simplex method over a full tableau: a few dozen numbers. It begins with nothing of any activity, which no row
// forbids, and goes on by Bland's rule, which never comes back to where it was.
#include "pipeline/dispatch/linear_program.h"

#include <cstddef>

namespace cutpoint {

namespace {

/// Less than any worth or use that matters, more than what rounding leaves of nothing.
constexpr double nothing = 1e-12;

class tableau {
 public:
  tableau(const std::vector<std::vector<double>>& uses, const std::vector<double>& worth)
      : activity_count_(worth.size()), column_count_(worth.size() + uses.size() + 1) {
    for (std::size_t r = 0; r < uses.size(); ++r) {
      std::vector<double>& row = rows_.emplace_back(uses[r]);
      row.resize(column_count_, 0.0);
      row[activity_count_ + r] = 1;  // what is left of it
      row.back() = 1;
      basis_.push_back(activity_count_ + r);
    }
    gains_ = worth;
    gains_.resize(column_count_, 0.0);
  }

  /// False where there is no end to what can be had.
  bool solve() {
    for (std::size_t column = entering(); column + 1 < column_count_; column = entering()) {
      const std::size_t row = leaving(column);
      if (row == rows_.size()) return false;
      pivot(row, column);
    }
    return true;
  }

  [[nodiscard]] std::vector<double> amounts() const {
    std::vector<double> found(activity_count_, 0.0);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (basis_[r] < activity_count_) found[basis_[r]] = rows_[r].back();
    }
    return found;
  }

 private:
  /// The first column that there should be more of, or the last one.
  [[nodiscard]] std::size_t entering() const {
    std::size_t column = 0;
    while (column + 1 < column_count_ && gains_[column] <= nothing) ++column;
    return column;
  }

  /// The row that is used up first by it, of equals the one whose own column is the first; their number where there is
  /// none.
  [[nodiscard]] std::size_t leaving(std::size_t column) const {
    std::size_t found = rows_.size();
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r][column] <= nothing) continue;
      if (found == rows_.size()) {
        found = r;
        continue;
      }
      const double here = rows_[r].back() * rows_[found][column];
      const double there = rows_[found].back() * rows_[r][column];
      if (here < there || (here == there && basis_[r] < basis_[found])) found = r;
    }
    return found;
  }

  void pivot(std::size_t row, std::size_t column) {
    const double divisor = rows_[row][column];
    for (double& each : rows_[row]) each /= divisor;
    const auto clear = [&](std::vector<double>& other) {
      const double factor = other[column];
      for (std::size_t c = 0; c < column_count_; ++c) other[c] -= factor * rows_[row][c];
      other[column] = 0;
    };
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r != row) clear(rows_[r]);
    }
    clear(gains_);
    basis_[row] = column;
  }

  std::size_t activity_count_;
  std::size_t column_count_;  ///< activities, what is left of each row, and the right-hand side
  std::vector<std::vector<double>> rows_;
  std::vector<double> gains_;
  std::vector<std::size_t> basis_;  ///< of each row, the column that stands for it
};

}  // namespace

std::optional<std::vector<double>> solve_linear_program(const std::vector<std::vector<double>>& uses,
                                                        const std::vector<double>& worth) {
  tableau mix(uses, worth);
  if (!mix.solve()) return std::nullopt;
  return mix.amounts();
}

}  // namespace cutpoint
