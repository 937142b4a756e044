#include "ide/answers.h"
#include "ide/cursor.h"
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
        ++place;
    }
    return -1;
}

}  // namespace

std::optional<SignatureHelp> signature_help(const Analysis& analysis, uint32_t offset) {
    Cursor cursor = look_at(analysis.text(), offset);
    const ops::Schema* schema =
        cursor.call ? analysis.find_operator(cursor.call->base, cursor.call->name) : nullptr;
    if (schema == nullptr) {
        return std::nullopt;
    }
    std::vector<ops::ShownParameter> parameters = ops::shown_parameters(*schema);
    SignatureHelp help;
    help.label = std::string(schema->name) + "(";
    for (const ops::ShownParameter& one : parameters) {
        help.label += help.parameters.empty() ? "" : ", ";
        auto begin = static_cast<uint32_t>(help.label.size());
        help.label += one.text;
        help.parameters.push_back(
            {begin, static_cast<uint32_t>(help.label.size()), std::string(one.doc)});
    }
    help.label += ")";
    help.active = active_parameter(parameters, *cursor.call);
    return help;
}

}  // namespace sardonyx::ide
