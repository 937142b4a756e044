#include "ops/substitute_table.h"

#include <algorithm>
#include <iterator>

namespace sardonyx::ops {
namespace {

constexpr Substitute kSubstitutes[] = {
#define SDX_SUBSTITUTE(name, text) {name, text},
#include "ops/substitutes.def"
#undef SDX_SUBSTITUTE
};

static_assert(std::is_sorted(std::begin(kSubstitutes), std::end(kSubstitutes),
                             [](const Substitute& a, const Substitute& b) {
                                 return a.name < b.name;
                             }),
              "the rows are in alphabetical order");

}  // namespace

std::span<const Substitute> substitutes() {
    return kSubstitutes;
}

}  // namespace sardonyx::ops
