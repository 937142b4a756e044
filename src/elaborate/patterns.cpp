// `match`: which case a subject chooses, and what the names of its pattern are bound to.
#include "elaborate/patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/assignments.h"
#include "elaborate/bool_operators.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/expressions.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/library.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/operators/equality.h"
#include "elaborate/operators/special_methods.h"

namespace sardonyx::elaborate {

using syntax::ExprKind;
using syntax::Pattern;
using syntax::PatternKind;
using syntax::Range;

namespace {

// kFailed: it is not known, and has been reported.
enum class Match : uint8_t { kNo, kYes, kFailed };

class Matcher {
  public:
    Matcher(Context& c, const syntax::Expr* subject) : c_(c), subject_(subject) {}

    // Python binds the names once the whole pattern fits.
    std::vector<std::pair<Symbol, Object>> captures;

    Match match(const Pattern* pattern, const Object& subject) {
        DepthGuard guard(c_, pattern->range);
        if (!guard || unknown_cause(c_.program, subject) != nullptr) {
            return guard ? refuse_part(pattern, "this part of the subject is not known")
                         : Match::kFailed;
        }
        switch (pattern->kind) {
            case PatternKind::kValue:
                return match_value(pattern, subject);
            case PatternKind::kCapture: {
                Match inner =
                    pattern->items.empty() ? Match::kYes : match(pattern->items[0], subject);
                if (inner == Match::kYes && pattern->name.valid()) {
                    captures.emplace_back(pattern->name, subject);
                }
                return inner;
            }
            case PatternKind::kOr:
                for (const Pattern* item : pattern->items) {
                    size_t before = captures.size();
                    if (Match one = match(item, subject); one != Match::kNo) {
                        return one;
                    }
                    captures.resize(before);
                }
                return Match::kNo;
            case PatternKind::kSequence:
                return match_sequence(pattern, subject);
            case PatternKind::kMapping:
                return match_mapping(pattern, subject);
            case PatternKind::kClass:
                return match_class(pattern, subject);
            case PatternKind::kStar:
                break;
        }
        return Match::kNo;
    }

  private:
    Match refuse_part(const Pattern* pattern, std::string message) {
        c_.report(kUnsupportedStatement, subject_->range, std::move(message))
            .label(c_.span(pattern->range), "the pattern")
            .with_help("write it as `if` and `elif`");
        return Match::kFailed;
    }

    static Match known(bool is_match) { return is_match ? Match::kYes : Match::kNo; }

    // What the graph or Python alone knows may be anything.
    bool is_open(const Pattern* pattern, const Object& subject) {
        bool is_open = subject.is_graph_value() || subject.is(ObjectKind::kOpaque);
        if (is_open) {
            refuse_part(
                pattern,
                fmt::format("{} is compared with a pattern: it is not known at compile time",
                            kind_name(subject)));
        }
        return is_open;
    }

    Match match_value(const Pattern* pattern, const Object& subject) {
        ExprKind kind = pattern->value->kind;
        if (kind == ExprKind::kNone || kind == ExprKind::kBool) {  // compared by `is`
            if (kind == ExprKind::kNone && subject.is_tensor()) {
                return Match::kNo;
            }
            if (is_open(pattern, subject)) {
                return Match::kFailed;
            }
            bool is_true =
                kind == ExprKind::kBool && syntax::as<syntax::BoolExpr>(pattern->value)->value;
            return known(kind == ExprKind::kNone
                             ? subject.is_none()
                             : subject.is(ObjectKind::kBool) && subject.as_bool() == is_true);
        }
        Object value = eval(c_, pattern->value);
        if (value.is_error()) {
            return Match::kFailed;
        }
        bool is_array = (subject.is(ObjectKind::kConstant) && !is_numpys_scalar(subject)) ||
                        (value.is(ObjectKind::kConstant) && !is_numpys_scalar(value));
        if (is_array) {
            return refuse_part(pattern, "an array is compared with a pattern");
        }
        if (subject.is_tensor() && is_open(pattern, subject)) {
            return Match::kFailed;
        }
        std::optional<Object> special =
            special_compare(c_, syntax::CompareOp::kEq, subject, value, pattern->range);
        Object same =
            special ? *special
                    : certain_compare(c_, syntax::CompareOp::kEq, subject, value, pattern->range);
        std::optional<bool> holds = truth(same);
        if (!holds && !same.is_error()) {
            refuse_part(pattern, "whether the subject is this is not known at compile time");
        }
        return holds ? known(*holds) : Match::kFailed;
    }

    Match match_sequence(const Pattern* pattern, const Object& subject) {
        if (is_open(pattern, subject)) {
            return Match::kFailed;
        }
        std::optional<std::vector<Object>> all;
        if (subject.is_sequence() || subject.is(ObjectKind::kRange)) {
            all = static_items(c_, subject);
        }
        if (!all) {
            return Match::kNo;
        }
        auto star = std::find_if(pattern->items.begin(), pattern->items.end(),
                                 [](const auto* one) { return one->kind == PatternKind::kStar; });
        bool has_star = star != pattern->items.end();
        size_t fixed = pattern->items.size() - (has_star ? 1 : 0);
        if (has_star ? all->size() < fixed : all->size() != fixed) {
            return Match::kNo;
        }
        size_t next = 0;
        for (const Pattern* item : pattern->items) {
            if (item->kind != PatternKind::kStar) {
                if (Match one = match(item, (*all)[next++]); one != Match::kYes) {
                    return one;
                }
                continue;
            }
            size_t count = all->size() - fixed;
            auto first = all->begin() + static_cast<std::ptrdiff_t>(next);
            if (item->name.valid()) {
                Object list = Object::list({first, first + static_cast<std::ptrdiff_t>(count)});
                claim(c_, list);
                captures.emplace_back(item->name, list);
            }
            next += count;
        }
        return Match::kYes;
    }

    Match match_mapping(const Pattern* pattern, const Object& subject) {
        if (is_open(pattern, subject)) {
            return Match::kFailed;
        }
        if (!subject.is(ObjectKind::kDict)) {
            return Match::kNo;
        }
        const auto& dict = subject.get<DictObject>();
        std::vector<Object> keys;
        for (size_t i = 0; i < pattern->items.size(); ++i) {
            Object key = eval(c_, pattern->keys[i]);
            if (key.is_error() || !check_key(c_, key, pattern->keys[i]->range)) {
                return Match::kFailed;
            }
            std::optional<const Object*> value = find_key(c_, dict, key, pattern->keys[i]->range);
            if (!value || *value == nullptr) {
                return value ? Match::kNo : Match::kFailed;
            }
            if (Match one = match(pattern->items[i], Object(**value)); one != Match::kYes) {
                return one;
            }
            keys.push_back(std::move(key));
        }
        if (pattern->name.valid()) {
            DictObject rest;
            for (const auto& [key, value] : dict.items) {
                auto is_it = [&key](const Object& one) { return same_key(one, key); };
                if (std::none_of(keys.begin(), keys.end(), is_it)) {
                    rest.set(key, value);
                }
            }
            Object made = Object::dict(std::move(rest));
            claim(c_, made);
            captures.emplace_back(pattern->name, made);
        }
        return Match::kYes;
    }

    Match match_class(const Pattern* pattern, const Object& subject) {
        Object type = eval(c_, pattern->value);
        std::optional<Object> of_python = type.is(ObjectKind::kOpaque)
                                              ? c_.function().environment->own_class(type)
                                              : std::nullopt;
        Namespace* own = as_namespace(of_python ? *of_python : type);
        bool is_pythons = own != nullptr && subject.is(ObjectKind::kOpaque);
        if (type.is_error() || (!is_pythons && is_open(pattern, subject))) {
            return Match::kFailed;
        }
        if (type.is(ObjectKind::kPythonType)) {
            return match_builtin(pattern, type, subject);
        }
        bool is_class = own != nullptr && (own->kind == Namespace::Kind::kClass ||
                                           own->kind == Namespace::Kind::kDataclass ||
                                           own->kind == Namespace::Kind::kNamedTuple);
        if (!is_class || own->unknown_all != nullptr) {
            return refuse_part(pattern, "a pattern of a class that is not known");
        }
        std::optional<bool> is_one =
            is_pythons ? is_instance(pattern, subject, type) : is_a(subject, own);
        if (is_one != true) {
            return is_one ? Match::kNo : Match::kFailed;
        }
        std::optional<std::vector<std::string>> named = fields_by_position(*own);
        if (!named) {
            return refuse_part(pattern,
                               fmt::format("`{}.__match_args__` is no tuple of strings that is "
                                           "known",
                                           own->name));
        }
        const std::vector<std::string>& fields = *named;
        size_t positional = pattern->items.size() - pattern->keywords.size();
        if (positional > fields.size()) {
            return refuse_part(pattern, fmt::format("`{}` has {} fields to match by position",
                                                    own->name, fields.size()));
        }
        for (size_t i = 0; i < pattern->items.size(); ++i) {
            std::string_view name = i < positional ? std::string_view(fields[i])
                                                   : c_.text(pattern->keywords[i - positional]);
            std::optional<Object> held = member_of_instance(subject, name, pattern->range);
            if (!held || held->is_error()) {
                return held ? Match::kFailed : Match::kNo;
            }
            if (Match one = match(pattern->items[i], *held); one != Match::kYes) {
                return one;
            }
        }
        return Match::kYes;
    }

    // `__match_args__`, which a dataclass has of those that `__init__` takes by position; nothing:
    // that is not known.
    static std::optional<std::vector<std::string>> fields_by_position(const Namespace& type) {
        std::vector<std::string> fields;
        for (const Namespace* one : type.order()) {
            std::optional<Object> given = const_cast<Namespace*>(one)->lookup_own("__match_args__");
            if (given) {
                return given->is(ObjectKind::kTuple) ? texts_of(*given) : std::nullopt;
            }
            if (one->kind == Namespace::Kind::kClass) {
                continue;
            }
            for (const Namespace::Parameter& parameter : parameters_of(*one)) {
                if (parameter.is_given && !parameter.is_keyword) {
                    fields.push_back(parameter.name);
                }
            }
            break;
        }
        return fields;
    }

    // Nothing: it has none of this name.
    std::optional<Object> member_of_instance(const Object& subject, std::string_view name,
                                             Range range) {
        if (subject.tuple_class() != nullptr) {
            return named_member(c_, subject, name, range);
        }
        if (subject.is(ObjectKind::kOpaque)) {
            Environment::Answer answer = c_.function().environment->attribute(subject, name);
            bool is_certain = answer.value || answer.error.starts_with("AttributeError");
            return answer.value || is_certain
                       ? answer.value
                       : std::optional(refuse(c_, range, "a member that Python does not give"));
        }
        Namespace* instance = as_namespace(subject);
        std::optional<Object> kept = instance->lookup(name);
        return kept ? std::optional(bound_member(c_, *instance, name, *kept, range)) : std::nullopt;
    }

    // Nothing after a diagnostic.
    std::optional<bool> is_instance(const Pattern* pattern, const Object& subject,
                                    const Object& type) {
        Arguments question;
        question.positional = {subject, type};
        question.ranges = {pattern->range, pattern->range};
        question.range = question.callee_range = pattern->range;
        return truth(call_library(c_, library_builtin("isinstance"), question));
    }

    // int(), str(name): the one item is the subject itself.
    Match match_builtin(const Pattern* pattern, const Object& type, const Object& subject) {
        static constexpr std::string_view kWhole[] = {"bool", "bytes", "dict", "float", "int",
                                                      "list", "set",   "str",  "tuple"};
        const std::string& name = type.get<PythonType>().name;
        bool is_whole = std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole);
        if (!is_whole || pattern->items.size() > 1 || !pattern->keywords.empty() ||
            subject.is(ObjectKind::kBytes) || subject.is_frozen()) {
            return refuse_part(pattern, fmt::format("this pattern of `{}`", name));
        }
        std::optional<bool> holds = is_instance(pattern, subject, type);
        if (!holds) {
            return Match::kFailed;
        }
        return *holds && !pattern->items.empty() ? match(pattern->items[0], subject)
                                                 : known(*holds);
    }

    Context& c_;
    const syntax::Expr* subject_;
};

}  // namespace

std::optional<const syntax::Clause*> chosen_case(Context& c, const syntax::OpaqueStmt* statement) {
    Object subject = eval(c, statement->subject);
    if (subject.is_error()) {
        return std::nullopt;
    }
    for (const syntax::Clause& clause : statement->clauses) {
        Matcher matcher(c, statement->subject);
        Match matched = matcher.match(clause.pattern, subject);
        if (matched == Match::kFailed) {
            return std::nullopt;
        }
        if (matched == Match::kNo) {
            continue;
        }
        for (auto& [name, value] : matcher.captures) {
            bind_name(c, name, std::move(value));
        }
        if (clause.test == nullptr) {
            return &clause;
        }
        Object test = test_value(c, clause.test);
        std::optional<bool> holds = truth(test);
        if (!holds) {
            if (!test.is_error()) {
                refuse(c, clause.test->range, "a tensor decides whether this case is chosen",
                       "write it as `if` and `elif`");
            }
            return std::nullopt;
        }
        if (*holds) {
            return &clause;
        }
    }
    return nullptr;
}

}  // namespace sardonyx::elaborate
