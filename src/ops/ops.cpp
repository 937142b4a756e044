// Lookups in the generated tables. find_schema() runs for each emitted node: a look into a hash
// table, then a walk over the few versions of that operator.
#include "ops/ops.h"

#include <algorithm>
#include <vector>

#include "base/name_hash.h"
#include "base/nearest.h"
#include "ops/table.h"
#include "types/domain.h"

namespace sardonyx::ops {
namespace {

using table::DomainOperators;
using table::IrVersion;
using table::Operator;

bool contains(ElementMask mask, ElementType type) {
    if (type == ElementType::kUndefined) {
        return mask != 0;
    }
    return (mask & element_bit(type)) != 0;
}

// The operators of a domain, sorted by name; none for an unknown domain.
std::span<const Operator> operators_of(std::string_view domain) {
    const DomainInfo* info = find_domain(domain);
    if (info == nullptr) {
        return {};
    }
    const DomainOperators& range = table::kDomainOperators[info - table::kDomains.data()];
    return table::kOperators.subspan(range.first_operator, range.operator_count);
}

std::span<const Schema> versions_of(const Operator& found) {
    return table::kSchemas.subspan(found.first_schema, found.schema_count);
}

// The newest of `versions` (oldest first) that is not newer than the opset; null: none.
const Schema* in_force(std::span<const Schema> versions, int64_t opset_version) {
    for (size_t i = versions.size(); i-- > 0;) {
        if (versions[i].since_version <= opset_version) {
            return &versions[i];
        }
    }
    return nullptr;
}

const Parameter* parameter_at(std::span<const Parameter> parameters, size_t index) {
    if (index < parameters.size()) {
        return &parameters[index];
    }
    bool open_ended = !parameters.empty() && parameters.back().option == ParameterOption::kVariadic;
    return open_ended ? &parameters.back() : nullptr;
}

}  // namespace

bool TypeSet::admits(const Type& type) const {
    const Type& element = type.element();
    switch (type.kind()) {
        case TypeKind::kUnknown:
            return true;
        case TypeKind::kTensor:
            return contains(tensor, type.element_type());
        case TypeKind::kSparseTensor:
            return false;
        case TypeKind::kMap:
            return maps;
        case TypeKind::kSequence:
            if (!element.is_known()) {
                return sequence != 0 || maps;
            }
            return element.kind() == TypeKind::kMap
                       ? maps
                       : element.is_tensor() && contains(sequence, element.element_type());
        case TypeKind::kOptional:
            if (!element.is_known()) {
                return optional_tensor != 0 || optional_sequence != 0;
            }
            if (element.kind() == TypeKind::kSequence) {
                return contains(optional_sequence, element.element().element_type());
            }
            return element.is_tensor() && contains(optional_tensor, element.element_type());
    }
    return true;
}

const AttributeSchema* Schema::find_attribute(std::string_view attribute_name) const {
    auto found = std::lower_bound(attributes.begin(), attributes.end(), attribute_name,
                                  [](const AttributeSchema& attribute, std::string_view wanted) {
                                      return attribute.name < wanted;
                                  });
    return found != attributes.end() && found->name == attribute_name ? &*found : nullptr;
}

const Parameter* Schema::input(size_t index) const {
    return parameter_at(inputs, index);
}

const Parameter* Schema::output(size_t index) const {
    return parameter_at(outputs, index);
}

std::span<const Schema> schemas() {
    return table::kSchemas;
}

std::span<const DomainInfo> domains() {
    return table::kDomains;
}

const DomainInfo* find_domain(std::string_view domain) {
    std::string_view wanted = normal_domain(domain);
    for (const DomainInfo& info : table::kDomains) {
        if (info.domain == wanted) {
            return &info;
        }
    }
    return nullptr;
}

std::span<const Schema> schema_versions(std::string_view domain, std::string_view name) {
    domain = normal_domain(domain);
    size_t mask = table::kOperatorSlots.size() - 1;
    for (size_t slot = name_hash(name) & mask; table::kOperatorSlots[slot] != 0;
         slot = (slot + 1) & mask) {
        const Operator& row = table::kOperators[table::kOperatorSlots[slot] - 1U];
        std::span<const Schema> versions = versions_of(row);
        if (row.name == name && versions.front().domain == domain) {
            return versions;
        }
    }
    return {};
}

const Schema* find_schema(std::string_view domain, std::string_view name, int64_t opset_version) {
    return in_force(schema_versions(domain, name), opset_version);
}

std::vector<const Schema*> operators_in_force(std::string_view domain, int64_t opset_version) {
    std::vector<const Schema*> found;
    for (const Operator& row : operators_of(domain)) {
        if (const Schema* schema = in_force(versions_of(row), opset_version)) {
            found.push_back(schema);
        }
    }
    return found;
}

std::string_view nearest_operator(std::string_view domain, std::string_view name,
                                  int64_t opset_version) {
    std::vector<std::string_view> candidates;
    for (const Schema* schema : operators_in_force(domain, opset_version)) {
        if (!schema->is_deprecated) {
            candidates.push_back(schema->name);
        }
    }
    return nearest(name, candidates);
}

int64_t ir_version_for_opset(std::string_view domain, int64_t opset_version) {
    std::string_view wanted = normal_domain(domain);
    for (const IrVersion& row : table::kIrVersions) {
        if (row.domain == wanted && row.opset_version == opset_version) {
            return row.ir_version;
        }
    }
    return 0;
}

int64_t newest_ir_version() {
    return table::kNewestIrVersion;
}

std::string_view onnx_version() {
    return table::kOnnxVersion;
}

}  // namespace sardonyx::ops
