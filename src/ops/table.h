// What tools/generate_ops.py writes: the arrays behind ops.h. For ops.cpp alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/ops.h"

namespace sardonyx::ops::table {

// An operator's versions are kSchemas[first_schema ... +schema_count), oldest first.
struct Operator {
    std::string_view name;
    uint16_t first_schema;
    uint16_t schema_count;
};

// A domain's operators, sorted by name, are kOperators[first_operator ... +operator_count).
struct DomainOperators {
    uint16_t first_operator;
    uint16_t operator_count;
};

struct IrVersion {
    std::string_view domain;
    int16_t opset_version;
    int16_t ir_version;
};

extern const std::span<const Schema> kSchemas;  // sorted by domain, name, since_version
extern const std::span<const Operator> kOperators;
// An open hash table by name_hash() of an operator's name, its size a power of two: the places of
// rows of kOperators, plus 1; 0: empty.
extern const std::span<const uint16_t> kOperatorSlots;
extern const std::span<const DomainInfo> kDomains;  // sorted by domain: "" is the first
extern const std::span<const DomainOperators> kDomainOperators;  // parallel to kDomains
extern const std::span<const IrVersion> kIrVersions;
extern const int64_t kNewestIrVersion;
extern const std::string_view kOnnxVersion;

}  // namespace sardonyx::ops::table
