// Tells which algorithms have a specification.
#include "cuda/cut/specification.h"

#include <variant>

#include "cuda/cut/all_specifications.h"

namespace cutpoint::cuda {

bool has_specification(const chunker& cuts) {
  return std::visit(
      [](const auto& filled) {
        return requires { make_specification(filled); };
      },
      cuts.parameters());
}

}  // namespace cutpoint::cuda
