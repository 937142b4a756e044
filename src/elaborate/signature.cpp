#include "elaborate/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/nearest.h"
#include "elaborate/activation.h"
#include "elaborate/annotations.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/expressions.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/script_memory.h"
#include "infer/subgraph.h"
#include "types/dim_expression.h"

namespace sardonyx::elaborate {

using syntax::Parameter;
using syntax::ParameterKind;

bool is_attribute_default(const Object& object) {
    return object.is(ObjectKind::kInt) || object.is(ObjectKind::kFloat) ||
           object.is(ObjectKind::kBool) || object.is(ObjectKind::kString);
}

namespace {

BoundParameter read_parameter(Context& c, const ScriptFunction& function,
                              const Parameter& parameter) {
    BoundParameter one{&parameter, c.text(parameter.name), {}, false, {}, false};
    // Any keyword may reach a plain function, and Python asks nobody what its annotations say.
    if (parameter.kind == ParameterKind::kKeywordArgs && function.is_plain) {
        return one;
    }
    if (parameter.kind == ParameterKind::kKeywordArgs) {
        c.report(kUnsupportedStatement, parameter.range,
                 "`**kwargs` on a script: a graph has inputs and attributes with fixed names")
            .with_help("name the parameters");
        return one;
    }
    bool is_first = &parameter == function.definition->parameters->items.data();
    if (function.self && is_first) {
        one.has_default = true;
        one.default_value = *function.self;
        one.is_self = true;
        return one;
    }
    if (!function.is_plain) {
        one.annotation = read_annotation(c, parameter.annotation);
    }
    for (const auto& [name, value] : function.defaults) {
        if (name == one.name) {
            one.has_default = true;
            one.default_value = value;
        }
    }
    if (one.has_default && is_unknown(one.default_value)) {
        report_unknown(c, one.default_value, one.name, parameter.range);
        one.has_default = false;
        one.annotation.is_mistaken = true;
    } else if (!one.has_default && parameter.default_value != nullptr) {
        one.has_default = true;
        one.default_value = eval(c, parameter.default_value);
    }
    return one;
}

// Makes one name of a dimension mean the same in all parameters: bounds that one of them states
// hold in the others.
void share_bounds(Context& c, std::vector<BoundParameter>& parameters) {
    std::map<std::string, DimBounds, std::less<>> stated;
    for (BoundParameter& one : parameters) {
        infer::for_each_bounded(one.annotation.type, [&](const std::string& name,
                                                         const DimBounds& bounds) {
            DimBounds both = intersection(stated[name], bounds);
            if (!both.is_empty()) {
                stated[name] = both;
            } else if (!one.annotation.is_mistaken) {
                c.report(kInvalidAnnotation, one.parameter->range,
                         fmt::format("no size lies between the bounds of `{}` here and those of "
                                     "parameters before",
                                     name))
                    .with_help("state the bounds of a name once");
                one.annotation.is_mistaken = true;
            }
        });
        if (one.annotation.is_mistaken) {
            one.annotation.type = Type();
        }
    }
    if (stated.empty()) {
        return;
    }
    for (BoundParameter& one : parameters) {
        one.annotation.type = infer::map_symbols(one.annotation.type, [&](std::string_view symbol) {
            auto found = stated.find(symbol);
            return found != stated.end() ? bounded_symbol(symbol, found->second)
                                         : Dim::symbol(symbol);
        });
    }
}

enum class Mistakes : uint8_t { kSaid, kTakenBack };

// Reads the parameters and keeps them, unless they were read before.
const std::vector<BoundParameter>& bound_parameters(Context& c, const ScriptFunction& function,
                                                    Mistakes mistakes) {
    auto [place, is_new] = c.scripts->signatures.try_emplace(&function);
    Signature& signature = *place;
    if (is_new || (mistakes == Mistakes::kSaid && signature.has_mistakes)) {
        auto read = std::make_shared<std::vector<BoundParameter>>();
        read->reserve(function.definition->parameters->items.size());
        if (is_new) {
            signature = {read, true};  // until they are read: what is read may ask for them
        }
        ActivationGuard in_function(c, std::make_shared<Scope>(&function, nullptr), nullptr);
        diagnostics::Checkpoint said(c.program.diagnostics);
        if (function.definition->is_async) {
            c.report(kUnsupportedStatement, function.definition->name_range,
                     "`async def`: a script cannot pause")
                .with_help("write `def`");
        }
        for (const Parameter& parameter : function.definition->parameters->items) {
            read->push_back(read_parameter(c, function, parameter));
        }
        share_bounds(c, *read);
        if (is_new) {
            signature.has_mistakes = said.has_findings();
        }
        if (mistakes == Mistakes::kTakenBack) {
            said.take_back();
        }
    }
    return *signature.parameters;
}

}  // namespace

const std::vector<BoundParameter>& read_parameters(Context& c, const ScriptFunction& function) {
    return bound_parameters(c, function, Mistakes::kTakenBack);
}

const std::vector<BoundParameter>& check_parameters(Context& c, const ScriptFunction& function) {
    return bound_parameters(c, function, Mistakes::kSaid);
}

namespace {

bool takes_position(const Parameter& parameter) {
    return parameter.kind == ParameterKind::kNormal ||
           parameter.kind == ParameterKind::kPositionalOnly;
}

bool takes_keyword(const Parameter& parameter) {
    return parameter.kind == ParameterKind::kNormal ||
           parameter.kind == ParameterKind::kKeywordOnly;
}

void report_too_many(Context& c, std::string_view name, std::span<const Parameter> parameters,
                     const Arguments& arguments, size_t first) {
    auto most = std::count_if(parameters.begin(), parameters.end(), takes_position);
    bool has_keyword_only = std::any_of(
        parameters.begin(), parameters.end(),
        [](const Parameter& parameter) { return parameter.kind == ParameterKind::kKeywordOnly; });
    c.report(kArgumentMismatch, arguments.ranges[first],
             fmt::format("`{}` takes {} argument{}{}, not {}", name, most, most == 1 ? "" : "s",
                         has_keyword_only ? " by position" : "", arguments.positional.size()))
        .with_help(has_keyword_only ? "give the rest by keyword" : "remove the rest");
}

void report_unknown_parameter(Context& c, std::string_view function,
                              std::span<const Parameter> parameters, const syntax::Tree& tree,
                              const KeywordArgument& keyword) {
    std::vector<std::string_view> names;
    for (const Parameter& parameter : parameters) {
        if (takes_keyword(parameter)) {
            names.push_back(tree.names.text(parameter.name));
        }
    }
    std::string_view near = nearest(keyword.name, names);
    diagnostics::Diagnostic& reported =
        c.report(kArgumentMismatch, keyword.name_range,
                 fmt::format("`{}` has no parameter `{}`", function, keyword.name));
    if (near.empty()) {
        reported.with_help("use the names of its definition");
    } else {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, keyword.name_range, keyword.name, near);
    }
}

bool bind_keyword_argument(Context& c, std::string_view name, std::span<const Parameter> parameters,
                           const syntax::Tree& tree, const KeywordArgument& keyword,
                           BoundArguments& out) {
    auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
            return tree.names.text(parameter.name) == keyword.name &&
                   parameter.kind != ParameterKind::kVarArgs &&
                   parameter.kind != ParameterKind::kKeywordArgs;
        });
    bool has_others = std::any_of(
        parameters.begin(), parameters.end(),
        [](const Parameter& parameter) { return parameter.kind == ParameterKind::kKeywordArgs; });
    if (has_others && (found == parameters.end() || !takes_keyword(*found))) {
        Object key = Object::string(std::string(keyword.name));
        if (out.others.find(key) != nullptr) {
            c.report(kDuplicateArgument, keyword.range,
                     fmt::format("`{}` is given twice", keyword.name))
                .with_help("remove one of them");
            return false;
        }
        out.others.set(key, keyword.value);
        return true;
    }
    if (found == parameters.end()) {
        report_unknown_parameter(c, name, parameters, tree, keyword);
        return false;
    }
    if (!takes_keyword(*found)) {
        c.report(kArgumentMismatch, keyword.name_range,
                 fmt::format("`{}` of `{}` is given by position only", keyword.name, name))
            .label(tree.span(found->range), "the parameter")
            .with_help("leave out its name");
        return false;
    }
    CallArgument& place = out.by_parameter[static_cast<size_t>(found - parameters.begin())];
    if (place.object != nullptr) {
        c.report(kDuplicateArgument, keyword.range,
                 fmt::format("`{}` is given twice", keyword.name))
            .label(c.span(place.range), "given here first")
            .with_help("remove one of them");
        return false;
    }
    place = {&keyword.value, keyword.range};
    return true;
}

}  // namespace

std::optional<BoundArguments> bind_arguments(Context& c, std::string_view name,
                                             std::span<const Parameter> parameters,
                                             const syntax::Tree& tree, const Arguments& arguments) {
    BoundArguments out;
    out.by_parameter.assign(parameters.size(), {});
    bool has_variadic = std::any_of(
        parameters.begin(), parameters.end(),
        [](const Parameter& parameter) { return parameter.kind == ParameterKind::kVarArgs; });
    size_t next = 0;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        if (next < parameters.size() && takes_position(parameters[next])) {
            out.by_parameter[next++] = {&arguments.positional[i], arguments.ranges[i]};
        } else if (has_variadic) {
            out.variadic.push_back(arguments.positional[i]);
        } else {
            report_too_many(c, name, parameters, arguments, i);
            return std::nullopt;
        }
    }
    for (const KeywordArgument& keyword : arguments.keywords) {
        if (!bind_keyword_argument(c, name, parameters, tree, keyword, out)) {
            return std::nullopt;
        }
    }
    return out;
}

}  // namespace sardonyx::elaborate
