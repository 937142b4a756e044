// The table is an open-addressing hash table made at compile time: a lookup happens for each node.
#include "infer/operators.h"

#include <array>
#include <cstdint>

#include "base/name_hash.h"
#include "types/domain.h"

namespace sardonyx::infer {
namespace {

struct Row {
    std::string_view domain;
    std::string_view name;
    InferFunction function;
};

constexpr Row kRows[] = {
#define SDX_INFER(domain, name, function) {domain, name, function},
#include "infer/operators.def"
#undef SDX_INFER
};

constexpr size_t kSlots = 1024;
static_assert(std::size(kRows) * 2 < kSlots, "keep the table sparse");

// By the name alone: the domains share few names, so that they may collide.
constexpr size_t slot_of(std::string_view name) {
    return name_hash(name) % kSlots;
}

constexpr std::array<uint16_t, kSlots> make_table() {
    std::array<uint16_t, kSlots> table{};
    for (size_t row = 0; row < std::size(kRows); ++row) {
        size_t slot = slot_of(kRows[row].name);
        while (table[slot] != 0) {
            slot = (slot + 1) % kSlots;
        }
        table[slot] = static_cast<uint16_t>(row + 1);
    }
    return table;
}

constexpr std::array<uint16_t, kSlots> kTable = make_table();

}  // namespace

InferFunction find_operator(std::string_view domain, std::string_view name) {
    domain = normal_domain(domain);
    for (size_t slot = slot_of(name); kTable[slot] != 0; slot = (slot + 1) % kSlots) {
        const Row& row = kRows[kTable[slot] - 1];
        if (row.name == name && row.domain == domain) {
            return row.function;
        }
    }
    return nullptr;
}

}  // namespace sardonyx::infer
