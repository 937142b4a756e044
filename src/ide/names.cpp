#include "ide/names.h"

#include "ide/outline.h"

namespace sardonyx::ide {

const KnownType* type_of_name(const Analysis& analysis, const NameAt& at) {
    if (analysis.module() == nullptr) {
        return nullptr;
    }
    Range inside{0, 0};
    std::vector<Definition> outer =
        around(analysis.module()->tree(), analysis.text(), at.range.begin);
    while (!outer.empty()) {  // the outermost function last
        const syntax::FunctionDefStmt* function = outer.back().function;
        inside = function != nullptr ? function->range : inside;
        outer.pop_back();
    }
    const KnownType* found = nullptr;
    for (const KnownType& one : analysis.types()) {
        std::string_view words =
            analysis.text().substr(one.range.begin, one.range.end - one.range.begin);
        bool is_bound = one.range.begin == at.range.begin || one.bound_from <= at.range.begin;
        bool is_before = is_bound && one.range.begin >= inside.begin;
        bool is_of_name = words.substr(0, at.name.size()) == at.name &&
                          (words.size() == at.name.size() || words[at.name.size()] == ':');
        if (is_before && is_of_name && one.range.begin < inside.end) {
            found = &one;
        }
    }
    return found;
}

}  // namespace sardonyx::ide
