// Which operator a call names, and which of its inputs and attributes each argument is.
#include "elaborate/emit/operator_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/nearest.h"
#include "calls/check.h"
#include "elaborate/emit/attributes.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/tolerance.h"
#include "infer/diagnostics.h"
#include "ops/ops.h"
#include "ops/schema_set.h"
#include "ops/substitutes.h"
#include "syntax/visit.h"
#include "types/domain.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// --- Finding the operator ------------------------------------------------------------------------

void report_missing_operator(Context& c, const OpsetObject& opset, std::string_view name,
                             const Arguments& arguments) {
    Range range = arguments.callee_range;
    const ops::SchemaSet* schemas = c.options.schemas;
    if (int64_t since = ops::first_version(schemas, opset.domain, name)) {
        diagnostics::Diagnostic& reported =
            c.report(kOperatorNotInOpset, range,
                     fmt::format("`{}` is not in opset {} of `{}`", name, opset.version,
                                 shown_domain(opset.domain)))
                .with_help(
                    fmt::format("it came with opset {}: import `opset{}` or newer", since, since));
        offer_opset(c, reported, arguments.receiver, opset, since);
        return;
    }
    std::string_view near = ops::nearest_operator(schemas, opset.domain, name, opset.version);
    diagnostics::Diagnostic& reported =
        c.report(tolerated(c, kUnknownOperator), range,
                 fmt::format("`{}` has no operator `{}`", shown_domain(opset.domain), name));
    const ops::DomainInfo* domain = ops::find_domain(opset.domain);
    std::string_view newer =
        near.empty() && domain != nullptr
            ? ops::nearest_operator(schemas, opset.domain, name, domain->newest_version)
            : std::string_view();
    std::string_view substitute = opset.domain.empty() ? ops::substitute(name) : std::string_view();
    if (!substitute.empty()) {
        reported.with_help(std::string(substitute));
    } else if (!near.empty()) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, range, name, near);
    } else if (!newer.empty()) {
        int64_t since = ops::first_version(schemas, opset.domain, newer);
        reported.with_help(
            fmt::format("did you mean `{}`? it came with opset {}: import `opset{}` "
                        "or newer",
                        newer, since, since));
        offer_name(c, reported, range, name, newer);
    } else {
        reported.with_help("see the list of ONNX operators, or use an `Opset` of your own domain");
    }
}

}  // namespace

std::optional<bool> has_operator(const Context& c, const OpsetObject& opset,
                                 std::string_view name) {
    const ops::SchemaSet* schemas = c.options.schemas;
    if (!ops::has_domain(schemas, opset.domain)) {
        return std::nullopt;
    }
    return ops::find_schema(schemas, opset.domain, name, opset.version) != nullptr;
}

const ops::Schema* find_operator(Context& c, const OpsetObject& opset, std::string_view name,
                                 const Arguments& arguments, bool& is_known) {
    Range range = arguments.callee_range;
    const ops::SchemaSet* schemas = c.options.schemas;
    const ops::DomainInfo* domain = ops::find_domain(opset.domain);
    is_known = domain != nullptr || ops::has_domain(schemas, opset.domain);
    if (!is_known) {
        return nullptr;
    }
    // Schemas of other domains are good for all versions from theirs on.
    if (domain != nullptr &&
        (opset.version < domain->oldest_version || opset.version > domain->newest_version)) {
        c.report(kUnknownOpset, range,
                 fmt::format("opset {} of `{}` is not known", opset.version,
                             shown_domain(opset.domain)))
            .with_help(fmt::format("use {} to {}", domain->oldest_version, domain->newest_version));
        return nullptr;
    }
    const ops::Schema* schema = ops::find_schema(schemas, opset.domain, name, opset.version);
    if (schema == nullptr) {
        report_missing_operator(c, opset, name, arguments);
        is_known = ops::first_version(schemas, opset.domain, name) != 0 || !is_for_onnxscript(c);
        return nullptr;
    }
    if (schema->is_deprecated) {
        c.report(kDeprecatedOperator, range,
                 fmt::format("`{}` is deprecated since opset {}", name, schema->since_version))
            .with_help("see the operator's page for what takes its place");
        return nullptr;
    }
    return schema;
}

namespace {

void report_unknown_keyword(Context& c, const ops::Schema& schema, const KeywordArgument& keyword) {
    calls::Problem problem = calls::unknown_keyword(schema, keyword.name);
    diagnostics::Diagnostic& reported =
        c.report(infer::kUnknownAttribute, keyword.name_range, problem.message())
            .with_help(std::move(problem.help));
    if (!problem.near.empty()) {
        offer_name(c, reported, keyword.name_range, keyword.name, problem.near);
    }
}

void check_enumeration(Context& c, const ops::AttributeSchema& schema,
                       const ir::Attribute& attribute, Range range, BoundCall& call) {
    const std::string* text = attribute.get<std::string>();
    std::optional<calls::Problem> problem =
        text != nullptr ? calls::check_enumeration(schema, *text) : std::nullopt;
    if (!problem) {
        return;
    }
    diagnostics::Diagnostic& reported =
        c.report(infer::kIllegalEnumeration, range, problem->message())
            .with_help(std::move(problem->help));
    if (!problem->near.empty()) {
        offer_string(c, reported, range, problem->near);
    }
    call.failed = true;
}

}  // namespace

void bind_keyword(Context& c, const ops::Schema& schema, const KeywordArgument& keyword,
                  BoundCall& call) {
    calls::Place place = calls::place_of(schema, keyword.name);
    if (place.attribute != nullptr) {
        if (keyword.value.is_none()) {
            return;
        }
        std::optional<ir::Attribute> made = make_attribute(
            c, place.attribute->name, place.attribute->type, keyword.value, keyword.range);
        if (!made) {
            call.failed = true;
            return;
        }
        check_enumeration(c, *place.attribute, *made, keyword.range, call);
        call.attribute_ranges.emplace_back(place.attribute->name, keyword.range);
        call.attributes.push_back(std::move(*made));
        return;
    }
    if (place.input) {
        size_t i = *place.input;
        call.inputs.resize(std::max(call.inputs.size(), i + 1));
        if (call.inputs[i].object != nullptr) {
            calls::Problem problem = calls::given_twice(schema, i);
            c.report(kDuplicateArgument, keyword.range, problem.message())
                .label(c.span(call.inputs[i].range), "given here first")
                .with_help(std::move(problem.help));
            call.failed = true;
            return;
        }
        call.inputs[i] = {&keyword.value, keyword.range};
        return;
    }
    report_unknown_keyword(c, schema, keyword);
    call.failed = true;
}

namespace {

// `2, 3` of `op.Reshape(x, 2, 3)`, where the inputs from `begin` on are integers; else nothing.
std::string numbers_from(const Context& c, const BoundCall& call, size_t begin) {
    std::string list;
    for (size_t i = begin; begin > 0 && i < call.inputs.size(); ++i) {
        const Object* object = call.inputs[i].object;
        if (object == nullptr || !object->is(ObjectKind::kInt)) {
            return {};
        }
        list += list.empty() ? "" : ", ";
        list += c.source(call.inputs[i].range);
    }
    return list;
}

}  // namespace

void check_inputs(Context& c, const ops::Schema& schema, const Arguments& arguments,
                  BoundCall& call) {
    if (call.failed) {
        return;  // what is missing may be what has been refused
    }
    std::optional<calls::Problem> problem =
        calls::check_inputs(schema, call.inputs.size(), [&call](size_t i) {
            return call.inputs[i].object != nullptr && !call.inputs[i].object->is_none();
        });
    if (!problem) {
        return;
    }
    bool is_too_many = call.inputs.size() > schema.maximum_inputs;
    std::string list =
        is_too_many ? numbers_from(c, call, schema.maximum_inputs - size_t{1}) : std::string();
    c.report(is_too_many ? kTooManyInputs : kTooFewInputs,
             is_too_many ? call.inputs[problem->input].range : arguments.range, problem->message())
        .with_help(list.empty() ? std::move(problem->help)
                                : fmt::format("write one list: `[{}]`", list));
    call.failed = true;
}

void check_required(Context& c, const ops::Schema& schema, const Arguments& arguments,
                    BoundCall& call) {
    if (call.failed) {
        return;  // what is missing may be what has been refused
    }
    calls::check_required(
        schema,
        [&arguments](std::string_view name) {
            const KeywordArgument* given = arguments.find(name);
            return given != nullptr && !given->value.is_none();
        },
        [&](calls::Problem problem) {
            c.report(infer::kMissingAttribute, arguments.range, problem.message())
                .with_help(std::move(problem.help));
            call.failed = true;
        });
}

BoundCall bind(Context& c, const ops::Schema& schema, const Arguments& arguments) {
    BoundCall call;
    call.inputs.reserve(arguments.positional.size() + arguments.keywords.size());
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        call.inputs.push_back({&arguments.positional[i], arguments.ranges[i]});
    }
    for (const KeywordArgument& keyword : arguments.keywords) {
        bind_keyword(c, schema, keyword, call);
    }
    check_inputs(c, schema, arguments, call);
    check_required(c, schema, arguments, call);
    return call;
}

}  // namespace sardonyx::elaborate
