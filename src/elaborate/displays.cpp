// Displays: tuples, lists, sets and dicts that stand in the text, and f-strings.
#include "elaborate/displays.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/expressions.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/formatting.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/shown.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;

Object eval_items(Context& c, const syntax::SequenceExpr* expr) {
    std::vector<Object> items;
    for (const Expr* item : expr->items) {
        if (item->kind != ExprKind::kStarred) {
            items.push_back(eval(c, item));
            continue;
        }
        const Expr* operand = static_cast<const syntax::PrefixExpr*>(item)->operand;
        Object starred = eval(c, operand);
        std::optional<std::vector<Object>> more = static_items(c, starred);
        if (!more) {
            if (!starred.is_error()) {
                c.report(kStaticRequired, item->range, fmt::format("`*` on {}", kind_name(starred)))
                    .with_help("unpack a list or tuple whose length is known");
            }
            return Object::error();
        }
        items.insert(items.end(), more->begin(), more->end());
    }
    if (std::any_of(items.begin(), items.end(), [](const Object& o) { return o.is_error(); })) {
        return Object::error();
    }
    if (expr->kind == ExprKind::kTuple) {
        return Object::tuple(std::move(items));
    }
    if (expr->kind == ExprKind::kSet) {
        return make_set(c, items, expr->range);
    }
    Object list = Object::list(std::move(items));
    claim(c, list);
    return list;
}

Object eval_dict(Context& c, const syntax::DictExpr* expr) {
    DictObject dict;
    for (size_t i = 0; i < expr->keys.size(); ++i) {
        if (expr->keys[i] == nullptr) {
            Object mapping = eval(c, expr->values[i]);
            if (!mapping.is(ObjectKind::kDict)) {
                if (!mapping.is_error()) {
                    c.report(kStaticRequired, expr->values[i]->range,
                             fmt::format("`**` on {}", kind_name(mapping)))
                        .with_help("unpack a dict whose keys are known");
                }
                return Object::error();
            }
            for (const auto& [key, value] : mapping.get<DictObject>().items) {
                dict.set(key, value);
            }
            continue;
        }
        Object key = eval(c, expr->keys[i]);
        Object value = eval(c, expr->values[i]);
        if (key.is_error() || value.is_error()) {
            return Object::error();
        }
        if (!check_key(c, key, expr->keys[i]->range)) {
            return Object::error();
        }
        dict.set(key, std::move(value));
    }
    Object made = Object::dict(std::move(dict));
    claim(c, made);
    return made;
}

namespace {

Object format_value(Context& c, const syntax::FStringPart& part) {
    Object value = eval(c, part.expr);
    if (value.is_error()) {
        return value;
    }
    if (!value.is_static()) {
        c.report(kStaticRequired, part.expr->range,
                 "a tensor in an f-string: its value is known only when the graph runs")
            .with_help("format only static values, such as numbers and `x.shape[0]`");
        return Object::error();
    }
    if (part.conversion != 0) {
        Show how = part.conversion == 'r'   ? Show::kRepr
                   : part.conversion == 'a' ? Show::kAscii
                                            : Show::kStr;
        value = show(c, value, how, part.expr->range);
        if (value.is_error()) {
            return value;
        }
    }
    Object spec = part.format != nullptr ? eval_fstring(c, part.format) : Object::string("");
    return spec.is_error() ? spec : format_object(c, value, spec.text(), part.expr->range);
}

}  // namespace

Object eval_fstring(Context& c, const syntax::FStringExpr* expr) {
    std::string text;
    for (const syntax::FStringPart& part : expr->parts) {
        if (part.expr == nullptr) {
            text += part.text;
            continue;
        }
        Object piece = format_value(c, part);
        if (piece.is_error()) {
            return piece;
        }
        text += piece.text();
    }
    return Object::string(std::move(text));
}

}  // namespace sardonyx::elaborate
