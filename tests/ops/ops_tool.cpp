// Answers what the operator tables hold, so that tests/python/ops/test_ops.py can compare it with
// the onnx package:
//     dump                          each a JSON object: the domains, the IR versions, every schema
//     find DOMAIN NAME VERSION      the since_version that find_schema() answers, or 0
//     time                          nanoseconds of one find_schema(), over all operators
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "../requests.h"
#include "ops/ops.h"

namespace {

using namespace sardonyx;

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", c);
        } else {
            out += c;
        }
    }
    return out + '"';
}

template <typename T, typename Print>
std::string list(std::span<const T> items, Print print) {
    std::string out = "[";
    for (const T& item : items) {
        out += out.size() > 1 ? ", " : "";
        out += print(item);
    }
    return out + "]";
}

std::string parameter(const ops::Parameter& row) {
    return fmt::format(
        R"({{"name": {}, "doc": {}, "option": {}, "homogeneous": {}, "type": {}, "minimum": {}}})",
        quoted(row.name), quoted(row.doc), static_cast<int>(row.option), row.is_homogeneous,
        row.type_variable, row.minimum_count);
}

std::string type_variable(const ops::TypeVariable& row) {
    return fmt::format(R"({{"name": {}, "doc": {}, "tensor": {}, "sequence": {}, "optional": {}, )"
                       R"("optional_sequence": {}, "maps": {}}})",
                       quoted(row.name), quoted(row.doc), row.types.tensor, row.types.sequence,
                       row.types.optional_tensor, row.types.optional_sequence, row.types.maps);
}

std::string default_value(const ops::AttributeSchema& row) {
    auto real = [](float value) { return fmt::format("{}", value); };
    if (!row.has_default) {
        return "null";
    }
    switch (row.type) {
        case ops::AttributeType::kInt:
            return fmt::format("{}", row.default_int);
        case ops::AttributeType::kFloat:
            return real(row.default_float);
        case ops::AttributeType::kString:
            return quoted(row.default_string);
        case ops::AttributeType::kInts:
            return list(row.default_ints, [](int64_t item) { return fmt::format("{}", item); });
        case ops::AttributeType::kFloats:
            return list(row.default_floats, real);
        case ops::AttributeType::kStrings:
            return list(row.default_strings, quoted);
        default:
            return "null";
    }
}

std::string attribute(const ops::AttributeSchema& row) {
    return fmt::format(
        R"({{"name": {}, "doc": {}, "type": {}, "required": {}, "default": {}, "legal": {}}})",
        quoted(row.name), quoted(row.doc), static_cast<int>(row.type), row.is_required,
        default_value(row), list(row.enumeration, quoted));
}

std::string dump() {
    std::vector<std::string> rows;
    for (const ops::DomainInfo& row : ops::domains()) {
        rows.push_back(fmt::format(R"({{"domain": {}, "oldest": {}, "newest": {}}})",
                                   quoted(row.domain), row.oldest_version, row.newest_version));
        for (int64_t version = 1; version <= row.newest_version; ++version) {
            rows.push_back(fmt::format(R"({{"domain": {}, "version": {}, "ir": {}}})",
                                       quoted(row.domain), version,
                                       ops::ir_version_for_opset(row.domain, version)));
        }
    }
    rows.push_back(fmt::format(R"({{"onnx": {}, "newest_ir": {}}})", quoted(ops::onnx_version()),
                               ops::newest_ir_version()));
    for (const ops::Schema& row : ops::schemas()) {
        rows.push_back(fmt::format(
            R"({{"domain": {}, "name": {}, "since": {}, "deprecated": {}, "function": {}, )"
            R"("deterministic": {}, "limits": [{}, {}, {}, {}], "inputs": {}, "outputs": {}, )"
            R"("attributes": {}, "types": {}, "doc": {}}})",
            quoted(row.domain), quoted(row.name), row.since_version, row.is_deprecated,
            row.is_function, row.is_deterministic, row.minimum_inputs, row.maximum_inputs,
            row.minimum_outputs, row.maximum_outputs, list(row.inputs, parameter),
            list(row.outputs, parameter), list(row.attributes, attribute),
            list(row.type_variables, type_variable), quoted(row.doc)));
    }
    return fmt::format("{}", fmt::join(rows, "\t"));
}

std::string since_version(std::string_view domain, std::string_view name,
                          const std::string& version) {
    const ops::Schema* found = ops::find_schema(domain, name, std::stoll(version));
    return std::to_string(found == nullptr ? 0 : found->since_version);
}

std::string time() {
    constexpr int kRounds = 1000;
    int64_t newest = ops::find_domain("")->newest_version;
    size_t calls = 0;
    size_t found = 0;
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < kRounds; ++round) {
        for (const ops::Schema& row : ops::schemas()) {
            found += ops::find_schema(row.domain, row.name, newest) != nullptr ? 1 : 0;
            ++calls;
        }
    }
    std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    return fmt::format("{:.1f} ns, {} of {} found", elapsed.count() / static_cast<double>(calls),
                       found, calls);
}

std::string answer(const std::vector<std::string>& fields) {
    if (fields[0] == "dump") {
        return dump();
    }
    if (fields[0] == "find") {
        return since_version(fields[1], fields[2], fields[3]);
    }
    return fields[0] == "time" ? time() : "unknown request";
}

}  // namespace

int main() {
    return test::serve(4, answer);
}
