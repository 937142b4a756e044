// The schemas joined with the rows of kernels.def, once, behind a hash of
// domain and name. A row whose function is missing does not link.
#include "eval/dispatch/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "eval/dispatch/contrib_schemas.h"
#include "eval/kernels/cast.h"
#include "eval/operators/kernel.h"
#include "types/domain.h"

// The functions that the rows name.
namespace sardonyx::eval::kernels {

#define SDX_KERNEL(domain, name, minimum, maximum, function, ...) Status function(KernelContext&);
#define SDX_ELEMENTWISE SDX_KERNEL
#define SDX_BY_SCALARS SDX_KERNEL
#define SDX_MOVEMENT SDX_KERNEL
#define SDX_CONTROL(domain, name, minimum, maximum, function) \
    Status function(Runner&, const NodePlan&, Frame&);
#include "eval/dispatch/kernels.def"
#undef SDX_KERNEL
#undef SDX_ELEMENTWISE
#undef SDX_BY_SCALARS
#undef SDX_MOVEMENT
#undef SDX_CONTROL

}  // namespace sardonyx::eval::kernels

namespace sardonyx::eval {
namespace {

struct Row {
    std::string_view domain;
    std::string_view name;
    int minimum;  // of Schema::since_version
    int maximum;
    Kernel kernel;
    ControlKernel control;
    AxisOrder order = AxisOrder::kOnnx;
    Elementwise elementwise = Elementwise::kNever;
};

// The last column of a row, which may be left out.
constexpr AxisOrder order_or(AxisOrder otherwise) {
    return otherwise;
}
constexpr AxisOrder order_or(AxisOrder /*otherwise*/, AxisOrder order) {
    return order;
}

// Runs a kernel that only moves elements on the unpacked codes of a type below 8 bits.
template <Kernel kernel>
Status on_codes(KernelContext& c) {
    return c.has_packed_input() ? run_on_codes(c, kernel) : kernel(c);
}

constexpr int kNewest = INT16_MAX;

const Row kKernels[] = {
#define SDX_FUNCTION(domain, name, minimum, maximum, function, by_default, elementwise, ...) \
    {domain,                                                                                 \
     name,                                                                                   \
     minimum,                                                                                \
     maximum,                                                                                \
     function,                                                                               \
     nullptr,                                                                                \
     order_or(AxisOrder::by_default __VA_OPT__(, AxisOrder::) __VA_ARGS__),                  \
     Elementwise::elementwise},
#define SDX_KERNEL(domain, name, minimum, maximum, function, ...) \
    SDX_FUNCTION(domain, name, minimum, maximum, &kernels::function, kOnnx, kNever, __VA_ARGS__)
#define SDX_ELEMENTWISE(domain, name, minimum, maximum, function, ...) \
    SDX_FUNCTION(domain, name, minimum, maximum, &kernels::function, kKept, kAlways, __VA_ARGS__)
#define SDX_BY_SCALARS(domain, name, minimum, maximum, function, ...) \
    SDX_FUNCTION(domain, name, minimum, maximum, &kernels::function, kOnnx, kByScalars, __VA_ARGS__)
#define SDX_MOVEMENT(domain, name, minimum, maximum, function, ...)                            \
    SDX_FUNCTION(domain, name, minimum, maximum, &on_codes<&kernels::function>, kOnnx, kNever, \
                 __VA_ARGS__)
#define SDX_CONTROL(domain, name, minimum, maximum, function) \
    {domain, name, minimum, maximum, nullptr, &kernels::function},
#include "eval/dispatch/kernels.def"
#undef SDX_KERNEL
#undef SDX_ELEMENTWISE
#undef SDX_BY_SCALARS
#undef SDX_MOVEMENT
#undef SDX_CONTROL
#undef SDX_FUNCTION
};

size_t hash(std::string_view domain, std::string_view name) {
    uint64_t state = 0xcbf29ce484222325u ^ domain.size();
    for (char c : name) {
        state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    for (char c : domain) {
        state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return state ^ (state >> 29);
}

class Table {
  public:
    Table() {
        for (const ops::Schema& schema : ops::schemas()) {
            entries_.push_back(OperatorEntry{&schema});
        }
        for (const ops::Schema& schema : contrib_schemas()) {
            entries_.push_back(OperatorEntry{&schema});
        }
        while ((size_t{1} << bits_) < 2 * entries_.size()) {
            ++bits_;
        }
        slots_.resize(size_t{1} << bits_);
        for (size_t i = 0; i < entries_.size();) {
            i = add_group(i);
        }
        for (const Row& row : kKernels) {
            for (OperatorEntry& entry : versions(row.domain, row.name)) {
                int version = entry.schema->since_version;
                if (row.minimum <= version && version <= row.maximum) {
                    entry.kernel = row.kernel;
                    entry.control = row.control;
                    entry.order = row.order;
                    entry.elementwise = row.elementwise;
                }
            }
        }
    }

    // The versions of one operator, oldest first.
    std::span<OperatorEntry> versions(std::string_view domain, std::string_view name) {
        for (size_t i = hash(domain, name);; ++i) {
            const Group& group = slots_[i & (slots_.size() - 1)];
            if (group.count == 0) {
                return {};
            }
            const ops::Schema& schema = *entries_[group.first].schema;
            if (schema.name == name && schema.domain == domain) {
                return {&entries_[group.first], group.count};
            }
        }
    }

  private:
    struct Group {
        uint32_t first = 0;
        uint32_t count = 0;
    };

    // Enters the run of equal names that starts at `first`; gives where the next one starts.
    size_t add_group(size_t first) {
        const ops::Schema& schema = *entries_[first].schema;
        size_t end = first;
        while (end < entries_.size() && entries_[end].schema->name == schema.name &&
               entries_[end].schema->domain == schema.domain) {
            ++end;
        }
        size_t i = hash(schema.domain, schema.name);
        while (slots_[i & (slots_.size() - 1)].count != 0) {
            ++i;
        }
        slots_[i & (slots_.size() - 1)] = {static_cast<uint32_t>(first),
                                           static_cast<uint32_t>(end - first)};
        return end;
    }

    std::vector<OperatorEntry> entries_;  // as ops::schemas(), then contrib_schemas()
    std::vector<Group> slots_;
    int bits_ = 0;
};

}  // namespace

const OperatorEntry* find_operator(std::string_view domain, std::string_view op_type,
                                   int64_t opset_version) {
    static Table table;
    std::span<OperatorEntry> versions = table.versions(normal_domain(domain), op_type);
    for (size_t i = versions.size(); i-- > 0;) {
        if (versions[i].schema->since_version <= opset_version) {
            return &versions[i];
        }
    }
    return nullptr;
}

std::string without_operator(std::string_view domain, int64_t opset_version) {
    if (ops::find_domain(normal_domain(domain)) != nullptr) {
        return fmt::format(
            "there is no such operator in version {} of the domain, and no function of that name "
            "in the model",
            opset_version);
    }
    return fmt::format(
        "the evaluator does not know this operator of `{}`, and the model has no function of that "
        "name; a schema is enough to check a model, not to run it",
        domain);
}

}  // namespace sardonyx::eval
