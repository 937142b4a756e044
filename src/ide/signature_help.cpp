#include "ide/answers.h"
#include "ide/cursor.h"
#include "ide/scripts.h"
#include "ops/signature.h"

namespace sardonyx::ide {
namespace {

// The parameter that an argument stands for: the one of its name, else by position.
int active_parameter(const std::vector<ops::ShownParameter>& parameters, const OpenCall& call) {
    int place = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const ops::ShownParameter& one = parameters[i];
        bool is_by_position =
            call.keyword.empty() && call.given.empty() && !one.is_attribute && !one.name.empty();
        if ((!call.keyword.empty() && one.name == call.keyword) ||
            (is_by_position && (one.is_variadic || place == static_cast<int>(call.argument)))) {
            return static_cast<int>(i);
        }
        place += one.name.empty() ? 0 : 1;  // `/` and `*` stand for no argument
    }
    return -1;
}

SignatureHelp help_of(std::string_view name, const std::vector<ops::ShownParameter>& parameters,
                      std::string_view result, const OpenCall& call) {
    SignatureHelp help;
    help.label = std::string(name) + "(";
    for (const ops::ShownParameter& one : parameters) {
        help.label += help.parameters.empty() ? "" : ", ";
        auto begin = static_cast<uint32_t>(help.label.size());
        help.label += one.text;
        help.parameters.push_back(
            {begin, static_cast<uint32_t>(help.label.size()), std::string(one.doc)});
    }
    help.label += ")";
    help.label += result;
    help.active = active_parameter(parameters, call);
    return help;
}

}  // namespace

std::optional<SignatureHelp> signature_help(const Analysis& analysis, uint32_t offset) {
    Cursor cursor = look_at(analysis.text(), offset);
    if (!cursor.call) {
        return std::nullopt;
    }
    const OpenCall& call = *cursor.call;
    if (const ops::Schema* schema = analysis.find_operator(call.base, call.name)) {
        return help_of(schema->name, ops::shown_parameters(*schema), "", call);
    }
    std::optional<ShownScript> script = shown_call(analysis, names_of(call), offset);
    return script ? std::optional(help_of(script->name, script->parameters, script->result, call))
                  : std::nullopt;
}

}  // namespace sardonyx::ide
