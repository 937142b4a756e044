// The operator tables: every operator of every opset of the onnx package that the build found.
//
// Generated at build time by tools/generate_ops.py; facts only here, no behaviour. All views are of
// static storage.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "types/attribute_type.h"
#include "types/element_type.h"
#include "types/type.h"

namespace sardonyx::ops {

enum class ParameterOption : uint8_t { kSingle, kOptional, kVariadic };

// Sets of element types, bit n for ElementType n.
using ElementMask = uint32_t;
constexpr ElementMask element_bit(ElementType type) {
    return ElementMask{1} << static_cast<unsigned>(type);
}

// The types that a type variable ("T") or a parameter admits, by kind of type.
struct TypeSet {
    ElementMask tensor = 0;
    ElementMask sequence = 0;           // seq(tensor(...))
    ElementMask optional_tensor = 0;    // optional(tensor(...))
    ElementMask optional_sequence = 0;  // optional(seq(tensor(...)))
    bool maps = false;                  // map(...) or seq(map(...))

    // False only where `type` is certainly not admitted; unknown parts are admitted.
    bool admits(const Type& type) const;
};

struct Parameter {
    std::string_view name;
    std::string_view doc;
    ParameterOption option;
    bool is_homogeneous;     // variadic: all arguments have one type
    int16_t type_variable;   // index into Schema::type_variables
    uint16_t minimum_count;  // variadic: how many at least
};

// A type variable of a schema; a parameter with a fixed type ("tensor(int64)") has one of its own,
// whose name is that text.
struct TypeVariable {
    std::string_view name;
    std::string_view doc;
    TypeSet types;
};

using sardonyx::AttributeType;

struct AttributeSchema {
    std::string_view name;
    std::string_view doc;
    AttributeType type;
    bool is_required;
    bool has_default;
    // The default, where has_default, by type; lists are empty unless given.
    int64_t default_int;
    float default_float;
    std::string_view default_string;
    std::span<const int64_t> default_ints;
    std::span<const float> default_floats;
    std::span<const std::string_view> default_strings;
    // The only strings that are legal, where the operator's text lists them
    // (tools/enumerations.py); empty: any.
    std::span<const std::string_view> enumeration;
};

struct Schema {
    std::string_view domain;  // "" for ai.onnx
    std::string_view name;
    int16_t since_version;
    bool is_deprecated;
    bool is_function;  // the standard gives a body in terms of other operators
    bool is_deterministic;
    uint16_t minimum_inputs;
    uint16_t maximum_inputs;  // UINT16_MAX: no limit
    uint16_t minimum_outputs;
    uint16_t maximum_outputs;
    std::span<const Parameter> inputs;
    std::span<const Parameter> outputs;
    std::span<const AttributeSchema> attributes;  // sorted by name
    std::span<const TypeVariable> type_variables;
    std::string_view doc;

    const AttributeSchema* find_attribute(std::string_view attribute_name) const;
    // The parameter of input or output `index`, the variadic one for all past it; null: too many.
    const Parameter* input(size_t index) const;
    const Parameter* output(size_t index) const;
};

// All, sorted by domain, name, since_version.
std::span<const Schema> schemas();

// The schema in force for `name` at `opset_version` of `domain` ("ai.onnx" is ""); null when there
// is none. A deprecated operator is found too: its schema says so.
const Schema* find_schema(std::string_view domain, std::string_view name, int64_t opset_version);

// All versions of one operator, oldest first; empty when the name is unknown.
std::span<const Schema> schema_versions(std::string_view domain, std::string_view name);

// The schemas in force at a version of a domain, deprecated operators too.
std::vector<const Schema*> operators_in_force(std::string_view domain, int64_t opset_version);

struct DomainInfo {
    std::string_view domain;
    int64_t oldest_version;
    int64_t newest_version;
};
std::span<const DomainInfo> domains();
// Null for a domain that the tables do not know.
const DomainInfo* find_domain(std::string_view domain);

// The operator's name nearest to a misspelt one, among those in force at the version; empty: none
// near.
std::string_view nearest_operator(std::string_view domain, std::string_view name,
                                  int64_t opset_version);

// The lowest IR version that goes with a version of ai.onnx, ai.onnx.ml or
// ai.onnx.preview.training, as in onnx.helper's table; 0 for versions and domains that it does not
// list.
int64_t ir_version_for_opset(std::string_view domain, int64_t opset_version);
// The newest IR version of the installed onnx.
int64_t newest_ir_version();
// The version of the onnx package that the tables come from: "1.23.2".
std::string_view onnx_version();

}  // namespace sardonyx::ops
