// What the names of a file stand for: by scopes, by the values of the file's names, and by the
// schemas of the operators that are called.
#include <algorithm>
#include <map>

#include "elaborate/objects/namespaces.h"
#include "ide/answers.h"
#include "ide/uses.h"
#include "ops/schema_set.h"
#include "syntax/visit.h"

namespace sardonyx::ide {
namespace {

using elaborate::ObjectKind;
using syntax::Expr;

struct KindRow {
    ObjectKind kind;
    NameRole role;
};
// Of names of the file; all others are variables.
constexpr KindRow kRoles[] = {
    {ObjectKind::kOpset, NameRole::kNamespace},    {ObjectKind::kModule, NameRole::kNamespace},
    {ObjectKind::kType, NameRole::kType},          {ObjectKind::kElementType, NameRole::kType},
    {ObjectKind::kPythonType, NameRole::kType},    {ObjectKind::kScript, NameRole::kFunction},
    {ObjectKind::kClosure, NameRole::kFunction},   {ObjectKind::kBuiltin, NameRole::kFunction},
    {ObjectKind::kDecorator, NameRole::kFunction},
};

class TokenReader {
  public:
    explicit TokenReader(const Analysis& analysis)
        : analysis_(analysis), names_(analysis.module()->tree().names) {
        for (const SeenName& one : seen_names(analysis)) {
            tokens_.push_back({one.range, role_of(one), one.is_write, false});
        }
        auto visit = [this](const Expr* node) { expression(node); };
        syntax::each_expression(analysis.module()->tree().body, visit);
    }

    std::vector<NameToken> take() {
        auto before = [](const NameToken& a, const NameToken& b) {
            return a.range.begin < b.range.begin;
        };
        std::stable_sort(tokens_.begin(), tokens_.end(), before);
        std::vector<NameToken> result;
        for (const NameToken& one : tokens_) {
            bool is_apart = result.empty() || one.range.begin >= result.back().range.end;
            if (is_apart && one.range.begin < one.range.end) {
                result.push_back(one);
            }
        }
        return result;
    }

  private:
    NameRole role_of(const SeenName& name) {
        if (!name.is_of_file) {
            return name.is_parameter ? NameRole::kParameter : NameRole::kVariable;
        }
        auto [at, is_new] = roles_.try_emplace(name.name, NameRole::kVariable);
        std::optional<elaborate::Object> object =
            is_new ? analysis_.module()->known(name.name) : std::nullopt;
        for (const KindRow& row : kRoles) {
            at->second = object && object->is(row.kind) ? row.role : at->second;
        }
        if (const auto* found = object ? elaborate::as_namespace(*object) : nullptr) {
            using Kind = elaborate::Namespace::Kind;
            bool is_instance = found->kind == Kind::kInstance || found->kind == Kind::kMember;
            at->second = is_instance ? NameRole::kVariable : NameRole::kType;
        }
        return at->second;
    }

    std::string_view name_of(const Expr* node) const {
        const auto* name = syntax::maybe_as<syntax::NameExpr>(node);
        return name == nullptr ? std::string_view() : names_.text(name->name);
    }

    const ops::Schema* operator_of(const Expr* node) const {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node);
        return member == nullptr || !member->name.valid()
                   ? nullptr
                   : analysis_.find_operator(name_of(member->value), names_.text(member->name));
    }

    void expression(const Expr* node) {
        if (const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node)) {
            const ops::Schema* schema = operator_of(node);
            if (member->name.valid()) {
                tokens_.push_back({member->name_range,
                                   schema == nullptr ? NameRole::kProperty : NameRole::kMethod,
                                   false, schema != nullptr && schema->is_deprecated});
            }
        } else if (const auto* call = syntax::maybe_as<syntax::CallExpr>(node)) {
            keywords(*call);
        } else if (const auto* subscript = syntax::maybe_as<syntax::SubscriptExpr>(node)) {
            dimensions(*subscript);
        }
    }

    void keywords(const syntax::CallExpr& call) {
        const ops::Schema* schema = operator_of(call.callee);
        for (const syntax::Keyword& keyword : call.keywords) {
            if (!keyword.name.valid()) {
                continue;
            }
            const ops::AttributeSchema* attribute =
                schema == nullptr ? nullptr : schema->find_attribute(names_.text(keyword.name));
            tokens_.push_back({keyword.name_range,
                               attribute == nullptr ? NameRole::kParameter : NameRole::kProperty});
            const auto* word = syntax::maybe_as<syntax::StringExpr>(keyword.value);
            bool is_word = attribute != nullptr && word != nullptr &&
                           std::find(attribute->enumeration.begin(), attribute->enumeration.end(),
                                     word->value) != attribute->enumeration.end();
            if (is_word) {
                tokens_.push_back({word->range, NameRole::kEnumMember});
            }
        }
    }

    // FLOAT["N", 4]
    void dimensions(const syntax::SubscriptExpr& subscript) {
        std::string_view name = name_of(subscript.value);
        std::optional<elaborate::Object> object =
            name.empty() ? std::nullopt : analysis_.module()->known(name);
        if (!object || !object->is(ObjectKind::kType)) {
            return;
        }
        auto add = [this](const Expr* node) {
            if (node != nullptr && node->kind == syntax::ExprKind::kString) {
                tokens_.push_back({node->range, NameRole::kTypeParameter});
            }
        };
        add(subscript.index);
        if (subscript.index != nullptr && subscript.index->kind == syntax::ExprKind::kTuple) {
            syntax::each_child(subscript.index, add);
        }
    }

    const Analysis& analysis_;
    const Interner& names_;
    std::map<std::string_view, NameRole> roles_;  // of names of the file
    std::vector<NameToken> tokens_;
};

}  // namespace

std::vector<NameToken> name_tokens(const Analysis& analysis) {
    return analysis.module() == nullptr ? std::vector<NameToken>() : TokenReader(analysis).take();
}

}  // namespace sardonyx::ide
