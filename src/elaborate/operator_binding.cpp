// Which operator a call names, and which of its inputs and attributes each argument is.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/nearest.h"
#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/attributes.h"
#include "elaborate/calls.h"
#include "elaborate/classes.h"
#include "elaborate/emitter.h"
#include "elaborate/operator_binding.h"
#include "elaborate/repairs.h"
#include "elaborate/tolerance.h"
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

const ops::Schema* find_operator(Context& c, const OpsetObject& opset, std::string_view name,
                                 const Arguments& arguments, bool& is_known) {
    Range range = arguments.callee_range;
    const ops::SchemaSet* schemas = c.options.schemas;
    is_known = ops::has_domain(schemas, opset.domain);
    if (!is_known) {
        return nullptr;
    }
    const ops::DomainInfo* domain = ops::find_domain(opset.domain);
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
    std::vector<std::string_view> names;
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        names.push_back(attribute.name);
    }
    for (const ops::Parameter& input : schema.inputs) {
        names.push_back(input.name);
    }
    std::string_view near = nearest(keyword.name, names);
    diagnostics::Diagnostic& reported =
        c.report(infer::kUnknownAttribute, keyword.name_range,
                 fmt::format("`{}` has no attribute `{}`", schema.name, keyword.name));
    if (!near.empty()) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, keyword.name_range, keyword.name, near);
    } else {
        names.resize(schema.attributes.size());  // inputs are for the nearest name alone
        reported.with_help(names.empty() ? fmt::format("`{}` has no attributes", schema.name)
                                         : fmt::format("it has `{}`", fmt::join(names, "`, `")));
    }
}

void check_enumeration(Context& c, const ops::AttributeSchema& schema,
                       const ir::Attribute& attribute, Range range, BoundCall& call) {
    const std::string* text = attribute.get<std::string>();
    if (text == nullptr || schema.enumeration.empty() ||
        std::find(schema.enumeration.begin(), schema.enumeration.end(), *text) !=
            schema.enumeration.end()) {
        return;
    }
    std::string legal;
    for (size_t i = 0; i < schema.enumeration.size(); ++i) {
        legal += fmt::format("{}`{}`", i == 0 ? "" : ", ", schema.enumeration[i]);
    }
    std::string_view near = nearest(*text, schema.enumeration);
    diagnostics::Diagnostic& reported =
        c.report(infer::kIllegalEnumeration, range,
                 fmt::format("`{}` is not a value of `{}`", *text, schema.name));
    reported.with_help(near.empty()
                           ? fmt::format("use one of {}", legal)
                           : fmt::format("did you mean `{}`? the values are {}", near, legal));
    if (!near.empty()) {
        offer_string(c, reported, range, near);
    }
    call.failed = true;
}

}  // namespace

void bind_keyword(Context& c, const ops::Schema& schema, const KeywordArgument& keyword,
                  BoundCall& call) {
    if (const ops::AttributeSchema* attribute = schema.find_attribute(keyword.name)) {
        if (keyword.value.is_none()) {
            return;
        }
        std::optional<ir::Attribute> made =
            make_attribute(c, attribute->name, static_cast<ir::AttributeType>(attribute->type),
                           keyword.value, keyword.range);
        if (!made) {
            call.failed = true;
            return;
        }
        check_enumeration(c, *attribute, *made, keyword.range, call);
        call.attribute_ranges.emplace_back(attribute->name, keyword.range);
        call.attributes.push_back(std::move(*made));
        return;
    }
    for (size_t i = 0; i < schema.inputs.size(); ++i) {
        if (schema.inputs[i].name != keyword.name) {
            continue;
        }
        if (call.inputs.size() <= i) {
            call.inputs.resize(i + 1);
        }
        if (call.inputs[i].object != nullptr) {
            c.report(kDuplicateArgument, keyword.range,
                     fmt::format("input `{}` is given twice", keyword.name))
                .label(c.span(call.inputs[i].range), "given here first")
                .with_help("remove one of them");
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

std::string input_count(const ops::Schema& schema) {
    if (schema.maximum_inputs == UINT16_MAX) {
        return fmt::format("at least {}", schema.minimum_inputs);
    }
    return schema.minimum_inputs == schema.maximum_inputs
               ? fmt::format("{}", schema.minimum_inputs)
               : fmt::format("{} to {}", schema.minimum_inputs, schema.maximum_inputs);
}

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
    if (call.inputs.size() > schema.maximum_inputs) {
        std::string list = numbers_from(c, call, schema.maximum_inputs - size_t{1});
        c.report(kTooManyInputs, call.inputs[schema.maximum_inputs].range,
                 fmt::format("`{}` takes {} input{}, not {}", schema.name, input_count(schema),
                             schema.maximum_inputs == 1 ? "" : "s", call.inputs.size()))
            .with_help(!list.empty()               ? fmt::format("write one list: `[{}]`", list)
                       : schema.attributes.empty() ? "remove the rest"
                                                   : "attributes are given by keyword");
        call.failed = true;
        return;
    }
    for (size_t i = 0; i < schema.minimum_inputs; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        bool present = i < call.inputs.size() && call.inputs[i].object != nullptr &&
                       !call.inputs[i].object->is_none();
        if (!present && parameter != nullptr &&
            parameter->option != ops::ParameterOption::kOptional) {
            c.report(kTooFewInputs, arguments.range,
                     fmt::format("`{}` takes {} inputs, and `{}` is missing", schema.name,
                                 input_count(schema), parameter->name))
                .with_help(fmt::format("give `{}`", parameter->name));
            call.failed = true;
            return;
        }
    }
}

void check_required(Context& c, const ops::Schema& schema, const Arguments& arguments,
                    BoundCall& call) {
    if (call.failed) {
        return;  // what is missing may be what has been refused
    }
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        bool given = std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                                 [&](const KeywordArgument& k) {
                                     return k.name == attribute.name && !k.value.is_none();
                                 });
        if (attribute.is_required && !given) {
            c.report(infer::kMissingAttribute, arguments.range,
                     fmt::format("`{}` needs the attribute `{}`", schema.name, attribute.name))
                .with_help(fmt::format("give `{}=...`", attribute.name));
            call.failed = true;
        }
    }
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
