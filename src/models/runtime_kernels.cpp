#include "models/runtime_kernels.h"

#include <algorithm>
#include <array>

namespace sardonyx::models {
namespace {

struct Constraint {
    std::string_view name;  // empty: no more
    ops::ElementMask types = 0;
};

struct Kernel {
    std::string_view op_type;
    int16_t since, until;             // 0: `since` alone
    int16_t first_index, last_index;  // of measured releases
    std::array<Constraint, 4> constraints = {};
};

constexpr Runtime kMeasured[] = {
#define SDX_MEASURED(index, major, minor) {major, minor},
#define SDX_KERNEL(...)
#include "models/runtime_kernels.def"
#undef SDX_MEASURED
#undef SDX_KERNEL
};

// Sorted by operator.
constexpr Kernel kKernels[] = {
#define SDX_MEASURED(...)
#define SDX_KERNEL(op_type, since, until, first, last, ...) \
    {op_type, since, until, first, last, {{__VA_ARGS__}}},
#include "models/runtime_kernels.def"
#undef SDX_MEASURED
#undef SDX_KERNEL
};

// Source: runs of each element type (tests/torch/test_target.py).
struct Reduction {
    std::string_view op_type;
    std::string_view reduction;
    ops::ElementMask refused;
};
constexpr ops::ElementMask kHalves =
    ops::element_bit(ElementType::kFloat16) | ops::element_bit(ElementType::kBfloat16);
constexpr ops::ElementMask kTruths = ops::element_bit(ElementType::kBool);
constexpr Reduction kReductions[] = {
    {"ScatterElements", "add", kHalves},
    {"ScatterElements", "mul", kHalves},
    {"ScatterElements", "max", ops::element_bit(ElementType::kBfloat16) | kTruths},
    {"ScatterElements", "min", ops::element_bit(ElementType::kBfloat16) | kTruths},
    {"ScatterND", "add", kHalves},
    {"ScatterND", "mul", kHalves},
    {"ScatterND", "max", kHalves | kTruths},
    {"ScatterND", "min", kHalves | kTruths},
};

// Calls visit(kernel) for those of the operator in the release, until it is true.
template <typename Visit>
bool any_kernel(Runtime runtime, const ops::Schema& schema, const Visit& visit) {
    auto after = std::upper_bound(std::begin(kMeasured), std::end(kMeasured), runtime);
    auto index = after - std::begin(kMeasured) - 1;
    auto kernel = std::lower_bound(
        std::begin(kKernels), std::end(kKernels), schema.name,
        [](const Kernel& one, std::string_view name) { return one.op_type < name; });
    for (; kernel != std::end(kKernels) && kernel->op_type == schema.name; ++kernel) {
        int64_t last = kernel->until != 0 ? kernel->until : kernel->since;
        bool is_it = kernel->first_index <= index && index <= kernel->last_index &&
                     kernel->since <= schema.since_version && schema.since_version <= last;
        if (is_it && visit(*kernel)) {
            return true;
        }
    }
    return false;
}

}  // namespace

Runtime oldest_measured() {
    return kMeasured[0];
}

bool has_kernel(Runtime runtime, const ops::Schema& schema) {
    return any_kernel(runtime, schema, [](const Kernel& /*kernel*/) { return true; });
}

bool has_kernel(Runtime runtime, const ops::Schema& schema, const TypeOf& type_of) {
    return any_kernel(runtime, schema, [&](const Kernel& kernel) {
        return std::all_of(
            kernel.constraints.begin(), kernel.constraints.end(), [&](const Constraint& one) {
                std::optional<ElementType> type =
                    one.name.empty() ? std::nullopt : type_of(one.name);
                return !type || (one.types >> static_cast<unsigned>(*type) & 1U) != 0;
            });
    });
}

bool refuses_reduction(std::string_view op_type, std::string_view reduction, ElementType type) {
    return std::any_of(std::begin(kReductions), std::end(kReductions), [&](const Reduction& one) {
        return one.op_type == op_type && one.reduction == reduction &&
               (one.refused & ops::element_bit(type)) != 0;
    });
}

}  // namespace sardonyx::models
