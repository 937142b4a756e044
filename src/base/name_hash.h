// The hash of tables of names that are made when the project is built.
#pragma once

#include <cstdint>
#include <string_view>

namespace sardonyx {

// FNV-1a of the bytes, folded. tools/generate_ops.py has the same function.
constexpr uint32_t name_hash(std::string_view name) {
    uint32_t hash = 2166136261U;
    for (char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    return hash ^ hash >> 16;
}

}  // namespace sardonyx
