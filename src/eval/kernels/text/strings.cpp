// Operators on strings.
#include <string>

#include "eval/loops/elementwise.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

struct Appended {
    std::string operator()(const std::string& x, const std::string& y) const { return x + y; }
};

}  // namespace

Status string_concat(KernelContext& c) {
    return binary(c, Strings{}, Appended{});
}

}  // namespace sardonyx::eval::kernels
