#include "ide/answers.h"
#include "ide/cursor.h"
#include "ide/names.h"

namespace sardonyx::ide {

std::optional<Location> definition(const Analysis& analysis, uint32_t offset) {
    std::optional<NameAt> at = name_at(analysis.text(), offset);
    if (!at || at->is_member || analysis.module() == nullptr) {
        return std::nullopt;
    }
    const std::string& own = analysis.module()->path();
    const KnownType* type = at->is_keyword ? nullptr : type_of_name(analysis, *at);
    if (type != nullptr) {
        return Location{own, analysis.text(), type->range};
    }
    std::optional<elaborate::Object> object = analysis.module()->known(at->name);
    if (object && object->is(elaborate::ObjectKind::kScript)) {
        diagnostics::Span span = object->get<elaborate::ScriptFunction>().name_span();
        const diagnostics::Sources& sources = analysis.sources();
        return Location{
            std::string(sources.path(span.file)), sources.text(span.file), {span.begin, span.end}};
    }
    for (const Symbol& one : symbols(analysis)) {
        if (one.name == at->name) {
            return Location{own, analysis.text(), one.name_range};
        }
    }
    return std::nullopt;
}

}  // namespace sardonyx::ide
