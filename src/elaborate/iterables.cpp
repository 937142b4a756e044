// range, enumerate, zip and reversed are taken apart here, so that the graph counts through a
// combination of tensors, sequences and lists without making one.
#include "elaborate/iterables.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/values.h"
#include "elaborate/expressions.h"
#include "elaborate/flow/alias_classes.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/aliases.h"
#include "elaborate/scopes/lookup.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Range;

namespace {

// An INT64 scalar.
ir::Value* as_index(Context& c, const Object& object, Range range) {
    ir::Value* value = as_value(c, object, range, ElementType::kInt64);
    if (value == nullptr) {
        return nullptr;
    }
    ElementType type = value->type.element_type();
    Emitter e(c, range);
    if (type != ElementType::kInt64 && type != ElementType::kUndefined) {
        if (!is_integer(type)) {
            e.fail(fmt::format("`range` over a tensor of {}", name(type)),
                   "use a tensor of integers");
            return nullptr;
        }
        value = e.emit("Cast", {value},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
    }
    return value;
}

// start + index * step, as Python's number. Null parts: 0 and 1.
Object counted(Context& c, ir::Value* index, ir::Value* start, ir::Value* step, Range range) {
    Emitter e(c, range);
    ir::Value* value = step != nullptr ? e.emit("Mul", {index, step}) : index;
    value = start != nullptr ? e.emit("Add", {value, start}) : value;
    return value != nullptr ? Object::number(value) : Object::error();
}

Iterable counting(Context& c, ir::Value* count, ir::Value* start, ir::Value* step, Range range) {
    std::optional<int64_t> known = Emitter(c, range).known(count);
    return {Object::error(), count, known, known && *known >= 0 ? Dim(*known) : Dim(),
            [&c, start, step, range](ir::Value* index) {
                return counted(c, index, start, step, range);
            }};
}

// range(...) with a tensor among its arguments.
std::optional<Iterable> tensor_range(Context& c, const Arguments& arguments) {
    std::vector<ir::Value*> parts;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        parts.push_back(as_index(c, arguments.positional[i], arguments.ranges[i]));
        if (parts.back() == nullptr) {
            return std::nullopt;
        }
    }
    if (parts.size() == 1) {
        return counting(c, parts[0], nullptr, nullptr, arguments.range);
    }
    Emitter e(c, arguments.range);
    if (parts.size() == 3 && e.known(parts[2]) == 0) {
        refuse(c, arguments.ranges[2], "`range` with step 0", "use a step other than 0");
        return std::nullopt;
    }
    // ceil((stop - start) / step), at least 0; -floor(-a / b) is ceil(a / b). Where Python raises
    // an error because the step is 0, there are no iterations.
    ir::Value* width = e.emit("Sub", {parts[1], parts[0]});
    if (parts.size() == 3) {
        ir::Value* step = parts[2];
        ir::Value* is_zero = e.known(step) ? nullptr : e.emit("Equal", {step, e.int64_scalar(0)});
        if (is_zero != nullptr) {
            step = e.emit("Where", {is_zero, e.int64_scalar(1), step});
        }
        ir::Value* negative = e.emit("Neg", {width});
        width = e.emit("Neg", {lowering::lower_floor_divide(e, negative, step)});
        if (is_zero != nullptr) {
            width = e.emit("Where", {is_zero, e.int64_scalar(0), width});
        }
    }
    ir::Value* count = e.emit("Max", {width, e.int64_scalar(0)});
    if (count == nullptr) {
        return std::nullopt;
    }
    return counting(c, count, parts[0], parts.size() == 3 ? parts[2] : nullptr, arguments.range);
}

std::optional<Iterable> static_iterable(Object items, bool is_asked = false) {
    if (items.is_error()) {
        return std::nullopt;
    }
    Iterable result;
    result.items = std::move(items);
    result.is_asked = is_asked;
    return result;
}

std::optional<Iterable> range_iterable(Context& c, const syntax::CallExpr* expr) {
    Arguments arguments;
    arguments.range = expr->range;
    arguments.callee_range = expr->callee->range;
    bool dynamic = false;
    for (const Expr* argument : expr->args) {
        arguments.positional.push_back(eval(c, argument));
        arguments.ranges.push_back(argument->range);
        const Object& object = arguments.positional.back();
        if (object.is_error()) {
            return std::nullopt;
        }
        dynamic = dynamic || object.is_graph_value();
    }
    if (dynamic && arguments.positional.size() <= 3) {
        return tensor_range(c, arguments);
    }
    return static_iterable(
        call(c, Object::make(ObjectKind::kBuiltin, library_builtin("range")), arguments));
}

// The rows of a tensor, or the items of a sequence; `read` gives it as it is when one is read.
std::optional<Iterable> tensor_iterable(Context& c, ir::Value* tensor, Range range,
                                        std::function<ir::Value*()> read = {}) {
    Emitter e(c, range);
    Iterable result;
    read = read ? std::move(read) : [tensor] { return tensor; };
    if (tensor->type.kind() == TypeKind::kSequence) {
        result.count = e.emit("SequenceLength", {tensor});
        result.at = [&c, read, range](ir::Value* index) {
            return as_object(Emitter(c, range).emit("SequenceAt", {read(), index}));
        };
    } else if (e.rank(tensor) == 0) {
        e.fail("a loop over a tensor of rank 0", "loop over `range(n)`");
        return std::nullopt;
    } else {
        result.dim = e.rank(tensor) > 0 ? tensor->type.shape()[0] : Dim();
        if (result.dim.is_static()) {
            result.known_count = tensor->type.shape()[0].value();
        }
        result.count = result.known_count
                           ? e.int64_scalar(*result.known_count)
                           : e.emit("Gather", {e.emit("Shape", {tensor}), e.int64_scalar(0)},
                                    {ir::make_attribute("axis", int64_t{0})});
        result.at = [&c, read, range](ir::Value* index) {
            return as_object(Emitter(c, range).emit("Gather", {read(), index},
                                                    {ir::make_attribute("axis", int64_t{0})}));
        };
    }
    return result.count != nullptr ? std::optional<Iterable>(result) : std::nullopt;
}

std::optional<Iterable> refuse_change(Context& c, std::string_view name, Range range) {
    c.report(
         kAliasedItemAssignment, range,
         fmt::format("the loop over `{}` assigns to its items in a way that changes what Python "
                     "loops over",
                     name))
        .with_help(
            fmt::format("loop over a copy, such as `op.Identity({})`, or over its indices", name));
    return std::nullopt;
}

// What a name holds, where the body of the loop assigns to items of it: Python reads each item when
// its turn comes.
std::optional<Iterable> live_iterable(Context& c, const syntax::NameExpr* name,
                                      const Object& object, const TargetUse& use) {
    if (use.whole) {  // the loop goes on with the old one, and the items are of the new one
        return refuse_change(c, c.text(name->name), name->range);
    }
    if (object.is_tensor()) {
        auto read = [&c, symbol = name->name] {
            const Object* now = c.at.scope->find(symbol);
            return now != nullptr && now->is_tensor() ? now->value() : nullptr;
        };
        std::optional<Iterable> result =
            tensor_iterable(c, object.value(), name->range, std::move(read));
        if (result) {
            result->is_live = true;
        }
        return result;
    }
    Iterable result;
    result.items = object;
    result.is_live = true;
    return result;
}

// The same, of which items have been read before the loop.
bool refuse_live(Context& c, const Iterable& inner, Range range) {
    return inner.is_live && !refuse_change(c, c.source(range), range);
}

std::optional<Iterable> object_iterable(Context& c, const Object& object, const Expr* expr,
                                        syntax::Stmts body) {
    Range range = expr->range;
    if (object.is_error()) {
        return std::nullopt;
    }
    if (object.is_tensor() || object.is(ObjectKind::kList)) {
        const auto* name = syntax::maybe_as<syntax::NameExpr>(expr);
        TargetUse use = name != nullptr && c.at.scope->find(name->name) != nullptr
                            ? target_use(body, name->name)
                            : TargetUse{};
        if (use.items) {
            return live_iterable(c, name, object, use);
        }
    }
    if (object.is_tensor() || object.is_numbers()) {
        std::optional<Iterable> result = tensor_iterable(c, object.value(), range);
        if (result && (object.is_shape_tensor() || object.is_numbers())) {
            result->at = [at = result->at](ir::Value* index) {
                Object item = at(index);
                return item.is_tensor() ? Object::number(item.value()) : item;
            };
        }
        if (result && !object.is_shape_tensor() && !body.empty()) {
            result->iterated.push_back({object.value(), passed_names(c, expr), range});
        }
        return result;
    }
    // The rows of an array are as known as a list's items, but a `for` over many would be long.
    bool is_asked = (object.is(ObjectKind::kConstant) && body.empty()) ||
                    special_method(object, "__iter__").has_value();
    auto rows = is_asked ? static_items(c, object) : std::nullopt;
    if (rows) {
        for (const Object& row : *rows) {
            name_part(c, row, object);
        }
        return static_iterable(Object::list(std::move(*rows)), object.is(ObjectKind::kModule));
    }
    if (object.is(ObjectKind::kConstant)) {
        ir::Value* value = as_value(c, object, range);
        std::optional<Iterable> result =
            value != nullptr ? tensor_iterable(c, value, range) : std::nullopt;
        if (result) {
            result->at = [at = result->at](ir::Value* index) {
                Object item = at(index);
                return item.is_tensor() ? Object::array_part(item.value()) : item;
            };
        }
        return result;
    }
    if (object.is(ObjectKind::kSet)) {
        c.report(kUnsupportedOperand, range, "a loop over a set, which has no order")
            .with_help("loop over `sorted(...)` of it");
        return std::nullopt;
    }
    if (object.is(ObjectKind::kIterator)) {
        return static_iterable(object);  // with_items() asks it
    }
    if (!object.is(ObjectKind::kRange) && !static_items(c, object)) {
        c.report(kUnsupportedOperand, range, fmt::format("a loop over {}", kind_name(object)))
            .with_help("loop over `range(n)`, a list, or a tensor");
        return std::nullopt;
    }
    return static_iterable(object);
}

// enumerate(items, start)
std::optional<Iterable> enumerated(Context& c, const Iterable& inner, const Object& start,
                                   Range range) {
    bool is_list = inner.is_static() && inner.items.is(ObjectKind::kList) && start.is_integer();
    if (inner.is_static() && !is_list && refuse_live(c, inner, range)) {
        return std::nullopt;
    }
    if (inner.is_static() && start.is_integer()) {
        std::optional<std::vector<Object>> items = static_items(c, inner.items);
        if (!items) {
            refuse(c, range, "too many items to enumerate", "enumerate a tensor");
            return std::nullopt;
        }
        int64_t number = start.as_int();
        for (Object& item : *items) {
            item = Object::tuple({Object::integer(number), std::move(item)});
            if (__builtin_add_overflow(number, 1, &number)) {
                refuse(c, range, "the numbers of `enumerate` do not fit in 64 bits");
                return std::nullopt;
            }
        }
        return static_iterable(Object::list(std::move(*items)));
    }
    std::optional<Iterable> items =
        inner.is_static() ? in_graph(c, inner.items, range) : std::optional<Iterable>(inner);
    bool from_zero = start.is_integer() && start.as_int() == 0;
    ir::Value* first = from_zero ? nullptr : as_index(c, start, range);
    if (!items || (first == nullptr && !from_zero)) {
        return std::nullopt;
    }
    items->at = [&c, range, first, at = items->at](ir::Value* index) {
        Object item = at(index);
        return item.is_error()
                   ? item
                   : Object::tuple({counted(c, index, first, nullptr, range), std::move(item)});
    };
    return items;
}

std::optional<Iterable> reversed(Context& c, const Iterable& inner, Range range) {
    if (inner.is_static() && inner.items.is(ObjectKind::kRange)) {
        const RangeObject& one = inner.items.get<RangeObject>();
        int64_t size = one.size();
        RangeObject back{0, 0, 1};
        if (size > 0) {
            int64_t last = one.start + (size - 1) * one.step;
            bool fits = !__builtin_sub_overflow(one.start, one.step, &back.stop) &&
                        !__builtin_sub_overflow(int64_t{0}, one.step, &back.step);
            if (!fits) {
                refuse(c, range, "a range of numbers that do not fit in 64 bits");
                return std::nullopt;
            }
            back.start = last;
        }
        return static_iterable(Object::make(ObjectKind::kRange, back));
    }
    if (inner.is_static()) {
        std::optional<std::vector<Object>> items = static_items(c, inner.items);
        if (inner.is_asked) {
            refuse(c, range, "`reversed` of an instance", "make a list of it first");
        }
        if (!items || inner.is_asked || refuse_live(c, inner, range)) {
            return std::nullopt;
        }
        std::reverse(items->begin(), items->end());
        return static_iterable(Object::list(std::move(*items)));
    }
    Emitter e(c, range);
    ir::Value* last = e.emit("Sub", {inner.count, e.int64_scalar(1)});
    Iterable result = inner;
    result.at = [&c, range, last, at = inner.at](ir::Value* index) {
        ir::Value* place = Emitter(c, range).emit("Sub", {last, index});
        return place != nullptr ? at(place) : Object::error();
    };
    return last != nullptr ? std::optional<Iterable>(result) : std::nullopt;
}

// zip(...) of which all is static, or all lengths are known and some items can only be static.
std::optional<Iterable> static_zip(Context& c, const std::vector<Iterable>& parts, Range range) {
    int64_t shortest = INT64_MAX;
    std::vector<Object> lists;
    for (const Iterable& part : parts) {
        if (refuse_live(c, part, range)) {
            return std::nullopt;
        }
        shortest = part.is_static() ? shortest : std::min(shortest, *part.known_count);
        if (part.is_static()) {
            lists.push_back(part.items);
        }
    }
    diagnostics::Checkpoint before(c.program.diagnostics);
    std::optional<std::vector<std::vector<Object>>> columns = columns_of(c, lists, shortest);
    if (!columns || before.has_errors()) {
        if (!before.has_errors()) {
            refuse(c, range, "too many items to zip", "zip tensors");
        }
        return std::nullopt;
    }
    for (size_t k = 0; k < parts.size(); ++k) {
        if (parts[k].is_static()) {
            shortest = std::min(shortest, static_cast<int64_t>((*columns)[k].size()));
        } else {  // without a column
            columns->insert(columns->begin() + static_cast<std::ptrdiff_t>(k),
                            std::vector<Object>());
        }
    }
    std::vector<Object> rows;
    for (int64_t i = 0; !parts.empty() && i < shortest; ++i) {
        std::vector<Object> row;
        for (size_t k = 0; k < parts.size(); ++k) {
            row.push_back(parts[k].is_static() ? (*columns)[k][static_cast<size_t>(i)]
                                               : parts[k].at(Emitter(c, range).int64_scalar(i)));
            if (row.back().is_error()) {
                return std::nullopt;
            }
        }
        rows.push_back(Object::tuple(std::move(row)));
    }
    return static_iterable(Object::list(std::move(rows)));
}

std::optional<Iterable> zipped(Context& c, std::vector<Iterable> parts, Range range) {
    bool any_static = false, all_known = true;
    for (const Iterable& part : parts) {
        any_static = any_static || part.is_static();
        all_known = all_known && (part.is_static() || part.known_count.has_value());
    }
    if (parts.empty() || (any_static && all_known)) {
        return static_zip(c, parts, range);
    }
    Iterable result;
    std::vector<std::function<Object(ir::Value*)>> columns;
    for (Iterable& part : parts) {
        if (part.is_static()) {
            std::optional<Iterable> other =
                refuse_live(c, part, range) ? std::nullopt : in_graph(c, part.items, range);
            if (!other) {
                return std::nullopt;
            }
            part = std::move(*other);
        }
        result.iterated.insert(result.iterated.end(), part.iterated.begin(), part.iterated.end());
        result.known_count = columns.empty() ? part.known_count
                             : result.known_count && part.known_count
                                 ? std::min(*result.known_count, *part.known_count)
                                 : std::optional<int64_t>();
        result.dim = columns.empty() || result.dim.equals(part.dim) ? part.dim : Dim();
        result.count = columns.empty() ? part.count
                                       : Emitter(c, range).emit("Min", {result.count, part.count});
        columns.push_back(part.at);
    }
    result.at = [columns](ir::Value* index) {
        std::vector<Object> row;
        for (const auto& column : columns) {
            row.push_back(column(index));
            if (row.back().is_error()) {
                return Object::error();
            }
        }
        return Object::tuple(std::move(row));
    };
    return result.count != nullptr ? std::optional<Iterable>(result) : std::nullopt;
}

// The builtin that a call of a plain name calls; empty: something else.
std::string_view called_builtin(Context& c, const syntax::CallExpr* expr) {
    const auto* name = syntax::maybe_as<syntax::NameExpr>(expr->callee);
    bool starred = std::any_of(expr->args.begin(), expr->args.end(), [](const Expr* argument) {
        return argument->kind == syntax::ExprKind::kStarred;
    });
    if (name == nullptr || starred) {
        return {};
    }
    Object callee = lookup(c, name->name, name->range);
    return callee.is(ObjectKind::kBuiltin) ? callee.get<BuiltinObject>().name : std::string_view{};
}

std::optional<Iterable> call_enumerate(Context& c, const syntax::CallExpr* expr,
                                       const Iterable& part) {
    Object start = expr->args.size() > 1     ? eval(c, expr->args[1])
                   : !expr->keywords.empty() ? eval(c, expr->keywords[0].value)
                                             : Object::integer(0);
    std::optional<Iterable> result =
        start.is_error() ? std::nullopt : enumerated(c, part, start, expr->range);
    bool is_list = part.source.is_error() && part.items.is(ObjectKind::kList);
    if (result && result->is_static() && is_list && start.is_integer()) {
        result->enumerated = part.items;
        result->first = start.as_int();
    }
    return result;
}

// An iterable that is an iterator, with the items that it gives; itertools.count as it is.
std::optional<Iterable> with_items(Context& c, std::optional<Iterable> iterable) {
    if (!iterable || !iterable->is_static() || !iterable->items.is(ObjectKind::kIterator) ||
        is_counted(iterable->items)) {
        return iterable;
    }
    Object source = iterable->items;
    std::optional<std::vector<Object>> items = static_items(c, source);
    std::optional<Iterable> result =
        static_iterable(items ? Object::list(std::move(*items)) : Object::error());
    if (result) {
        result->source = source;
    }
    return result;
}

std::optional<Iterable> iterable_of(Context& c, const Expr* expr, syntax::Stmts body);

std::optional<Iterable> call_iterable(Context& c, const syntax::CallExpr* expr,
                                      std::string_view builtin, syntax::Stmts body) {
    std::vector<Iterable> parts;
    std::vector<Object> sources;
    size_t most = builtin == "zip" ? SIZE_MAX : 1;
    for (size_t i = 0; i < expr->args.size() && i < most; ++i) {
        std::optional<Iterable> part = iterable_of(c, expr->args[i], body);
        if (builtin != "zip") {  // which takes no more items than it needs
            part = with_items(c, std::move(part));
        }
        if (!part) {
            return std::nullopt;
        }
        sources.push_back(part->source.is_error() ? part->items : part->source);
        parts.push_back(std::move(*part));
    }
    std::optional<Iterable> result = builtin == "zip" ? zipped(c, std::move(parts), expr->range)
                                     : builtin == "reversed" ? reversed(c, parts[0], expr->range)
                                                             : call_enumerate(c, expr, parts[0]);
    if (result && result->is_static()) {  // the items are taken now, and Python takes each later
        result->source = Object::make(
            ObjectKind::kIterator,
            IteratorObject{builtin, {}, Object::tuple(std::move(sources)), c.span(expr->range)});
    }
    return result;
}

// Whether the arguments of enumerate, zip or reversed are as they should be; other calls are left
// to the library, which reports them.
bool is_plain_call(const Context& c, const syntax::CallExpr* expr, std::string_view builtin) {
    size_t count = expr->args.size(), keywords = expr->keywords.size();
    if (builtin == "enumerate") {
        return (count == 1 && keywords == 1 && expr->keywords[0].name.valid() &&
                c.text(expr->keywords[0].name) == "start") ||
               (keywords == 0 && (count == 1 || count == 2));
    }
    return keywords == 0 &&
           (builtin == "range" || builtin == "zip" || (builtin == "reversed" && count == 1));
}

}  // namespace

std::optional<Iterable> in_graph(Context& c, const Object& items, Range range) {
    Emitter e(c, range);
    if (items.is(ObjectKind::kRange)) {
        const RangeObject& one = items.get<RangeObject>();
        return counting(c, e.int64_scalar(one.size()),
                        one.start == 0 ? nullptr : e.int64_scalar(one.start),
                        one.step == 1 ? nullptr : e.int64_scalar(one.step), range);
    }
    std::optional<std::vector<Object>> all = static_items(c, items);
    if (!all || all->empty()) {
        return std::nullopt;
    }
    bool numbers = std::all_of(all->begin(), all->end(), [](const Object& item) {
        return item.is_number() || item.is_number_tensor();
    });
    ir::Value* list = nullptr;
    if (numbers) {
        bool any_float = std::any_of(all->begin(), all->end(), [](const Object& item) {
            return item.is(ObjectKind::kFloat);
        });
        list = as_value(c, Object::list(*all), range,
                        any_float ? ElementType::kDouble : ElementType::kUndefined);
    } else {
        for (const Object& item : *all) {
            ir::Value* value = is_leaf(item) ? as_value(c, item, range) : nullptr;
            if (value == nullptr) {
                c.report(kUnsupportedOperand, range,
                         fmt::format("{} among the items of a loop that runs in the graph",
                                     kind_name(item)))
                    .with_help("loop over tensors or numbers of one type");
                return std::nullopt;
            }
            list = list == nullptr ? e.emit("SequenceConstruct", {value})
                                   : e.emit("SequenceInsert", {list, value});
        }
    }
    std::optional<Iterable> result =
        list != nullptr ? tensor_iterable(c, list, range) : std::nullopt;
    if (result && numbers) {
        result->at = [at = result->at](ir::Value* index) {
            Object item = at(index);
            return item.is_tensor() ? Object::number(item.value()) : item;
        };
    }
    return result;
}

namespace {

std::optional<Iterable> iterable_of(Context& c, const Expr* expr, syntax::Stmts body) {
    const auto* call_expr = syntax::maybe_as<syntax::CallExpr>(expr);
    std::string_view builtin =
        call_expr != nullptr ? called_builtin(c, call_expr) : std::string_view{};
    if (call_expr != nullptr && is_plain_call(c, call_expr, builtin)) {
        DepthGuard guard(c, expr->range);
        if (!guard) {
            return std::nullopt;
        }
        return builtin == "range" ? range_iterable(c, call_expr)
                                  : call_iterable(c, call_expr, builtin, body);
    }
    return object_iterable(c, eval(c, expr), expr, body);
}

}  // namespace

std::optional<Iterable> eval_iterable(Context& c, const Expr* expr, syntax::Stmts body) {
    return with_items(c, iterable_of(c, expr, body));
}

}  // namespace sardonyx::elaborate
