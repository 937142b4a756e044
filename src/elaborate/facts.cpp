#include "elaborate/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <set>

#include "elaborate/emit/emitter.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/signature.h"
#include "infer/subgraph.h"

namespace sardonyx::elaborate {
namespace {

constexpr int kMaxNesting = 32;
constexpr size_t kMaxKeyBytes = 1 << 20;
constexpr size_t kMaxWord = 24;
constexpr size_t kMaxSuffix = 80;

// --- What a closure reads from around it ---------------------------------------------------------

// In the order of the names' first appearance in the file.
std::vector<const Object*> captured(Context& c, const Closure& closure) {
    const Scope* around = closure.scope != nullptr ? closure.scope.get() : c.at.scope.get();
    const Interner& texts = around->function->tree->names;
    const BlockReads& reads = closure.lambda != nullptr
                                  ? lambda_reads(c, texts, closure.lambda)
                                  : block_reads(c, texts, closure.definition->body);
    std::vector<uint32_t> names;
    for (const auto& [name, places] : reads.names) {
        names.push_back(name.index);
    }
    std::sort(names.begin(), names.end());
    std::vector<const Object*> objects;
    for (uint32_t name : names) {
        for (const Scope* scope = closure.scope.get(); scope != nullptr;
             scope = scope->enclosing.get()) {
            if (const Object* found = scope->find(Symbol{name})) {
                objects.push_back(found);
                break;
            }
        }
    }
    return objects;
}

class CaptureSearch {
  public:
    explicit CaptureSearch(Context& c) : c_(c) {}

    // How the object is held: by a callable, which captures it, or in the open.
    enum class Held : uint8_t { kOpenly, kCaptured };
    bool find(const Object& object, int depth, Held held) {
        if (depth > kMaxNesting || ++steps_ > kMaxKeyBytes) {
            return false;
        }
        if (object.is_graph_value() || object.is_numbers()) {
            return held == Held::kCaptured;
        }
        if (object.is_sequence()) {
            return std::any_of(object.items().begin(), object.items().end(),
                               [&](const Object& o) { return find(o, depth + 1, held); });
        }
        if (object.is(ObjectKind::kDict)) {
            const auto& items = object.get<DictObject>().items;
            return std::any_of(items.begin(), items.end(), [&](const auto& item) {
                return find(item.second, depth + 1, held);
            });
        }
        if (object.is(ObjectKind::kMethod)) {
            return find(object.get<MethodObject>().self, depth + 1, Held::kCaptured);
        }
        if (object.is(ObjectKind::kPartial)) {
            const PartialObject& partial = object.get<PartialObject>();
            const auto& keywords = partial.keywords.items;
            return find(partial.function, depth + 1, Held::kCaptured) ||
                   std::any_of(
                       partial.first.begin(), partial.first.end(),
                       [&](const Object& one) { return find(one, depth + 1, Held::kCaptured); }) ||
                   std::any_of(keywords.begin(), keywords.end(), [&](const auto& one) {
                       return find(one.second, depth + 1, Held::kCaptured);
                   });
        }
        if (!object.is(ObjectKind::kClosure) || !seen_.insert(object.pointer().get()).second) {
            return false;
        }
        const Closure& closure = object.get<Closure>();
        std::vector<const Object*> objects = captured(c_, closure);
        for (const Object& value : closure.defaults) {
            objects.push_back(&value);
        }
        return std::any_of(objects.begin(), objects.end(), [&](const Object* one) {
            return find(*one, depth + 1, Held::kCaptured);
        });
    }

  private:
    Context& c_;
    std::set<const void*> seen_;
    size_t steps_ = 0;
};

// --- Keys ----------------------------------------------------------------------------------------

}  // namespace

Type known_type(const Type& type, Detail detail) {
    if (detail == Detail::kAnnotations) {
        return {};
    }
    Type known = infer::drop_symbols(
        type, [](std::string_view symbol) { return infer::fresh_number(symbol).has_value(); });
    if (detail == Detail::kRanks && known.is_tensor() && known.has_shape()) {
        known.set_shape(Shape(known.shape().size()));
    }
    return known;
}

namespace {

class KeyWriter {
  public:
    KeyWriter(Context& c, Detail detail) : c_(c), detail_(detail) {}

    std::string text;
    bool ok = true;

    void type_of(const Type& type) {
        string(detail_ == Detail::kAnnotations ? "" : type.to_string());
        string(detail_ == Detail::kAnnotations ? "" : infer::stated_bounds(type));
    }

    void object(const Object& object, int depth) {
        ok = ok && depth <= kMaxNesting && text.size() <= kMaxKeyBytes;
        if (!ok) {
            return;
        }
        text += static_cast<char>('A' + static_cast<int>(object.kind()));
        bytes(object.shown_as());
        switch (object.kind()) {
            case ObjectKind::kNone:
            case ObjectKind::kEllipsis:
                break;
            case ObjectKind::kBool:
            case ObjectKind::kInt:
                bytes(object.as_int());
                if (object.member() != nullptr) {
                    string(object.member()->describe());
                }
                break;
            case ObjectKind::kWideInt:
                bytes(object.as_whole());
                break;
            case ObjectKind::kElementType:
                bytes(object.as_element_type());
                bytes(object.type_form());
                break;
            case ObjectKind::kFloat:
                bytes(object.as_double());
                break;
            case ObjectKind::kString:
            case ObjectKind::kBytes:
                string(object.text());
                if (object.member() != nullptr) {
                    string(object.member()->describe());
                }
                break;
            case ObjectKind::kTuple:
            case ObjectKind::kList:
            case ObjectKind::kSet:
                bytes(object.tuple_class());
                objects(object.items(), depth);
                break;
            case ObjectKind::kDict:
                bytes(object.get<DictObject>().of);
                this->object(object.get<DictObject>().factory, depth + 1);
                for (const auto& [key, value] : object.get<DictObject>().items) {
                    this->object(key, depth + 1);
                    this->object(value, depth + 1);
                }
                text += ';';
                break;
            case ObjectKind::kRange:
                bytes(object.get<RangeObject>());
                break;
            case ObjectKind::kSlice:
                this->object(object.get<SliceObject>().lower, depth + 1);
                this->object(object.get<SliceObject>().upper, depth + 1);
                this->object(object.get<SliceObject>().step, depth + 1);
                break;
            case ObjectKind::kNumbers:
                ok = false;  // a function of the model has no such input
                break;
            case ObjectKind::kTensor:
                text += object.is_number_tensor() ? 'n' : object.is_shape_tensor() ? 's' : 't';
                type_of(object.is_number_tensor() ? object.value()->type
                                                  : known_type(object.value()->type, detail_));
                break;
            case ObjectKind::kType:
                string(object.get<TypeObject>().type.to_string());
                string(infer::stated_bounds(object.get<TypeObject>().type));
                bytes(object.get<TypeObject>().explicit_shape);
                break;
            case ObjectKind::kPythonType:
                string(object.get<PythonType>().name);
                objects(object.get<PythonType>().arguments, depth);
                break;
            case ObjectKind::kOpset:
                opset(object.get<OpsetObject>());
                break;
            case ObjectKind::kOperator:
                opset(object.get<OperatorObject>().opset);
                string(object.get<OperatorObject>().name);
                break;
            case ObjectKind::kBuiltin:
                string(object.get<BuiltinObject>().name);
                break;
            case ObjectKind::kMethod:
                string(object.get<MethodObject>().name);
                this->object(object.get<MethodObject>().self, depth + 1);
                break;
            case ObjectKind::kPartial:
                partial(object.get<PartialObject>(), depth);
                break;
            case ObjectKind::kModule:
                string(object.get<ModuleObject>().name);
                bytes(object.get<ModuleObject>().environment);
                break;
            case ObjectKind::kClosure:
                closure(object, depth);
                break;
            case ObjectKind::kConstant:
            case ObjectKind::kScript:
            case ObjectKind::kOpaque:
            case ObjectKind::kIterator:
                bytes(object.pointer().get());
                break;
            case ObjectKind::kAttribute:
                string(object.get<AttributeObject>().name);
                break;
            case ObjectKind::kError:
            case ObjectKind::kUnbound:
            case ObjectKind::kDecorator:
                break;
        }
    }

  private:
    template <typename T>
    void bytes(const T& value) {
        // Also of pointers themselves. NOLINTNEXTLINE(bugprone-sizeof-expression)
        auto raw = std::bit_cast<std::array<char, sizeof value>>(value);
        text.append(raw.data(), raw.size());
    }
    void string(std::string_view value) {
        bytes(value.size());
        text.append(value);
    }
    void objects(const std::vector<Object>& items, int depth) {
        bytes(items.size());
        for (const Object& item : items) {
            object(item, depth + 1);
        }
    }
    void opset(const OpsetObject& opset) {
        string(opset.domain);
        bytes(opset.version);
    }
    void partial(const PartialObject& bound, int depth) {
        object(bound.function, depth + 1);
        objects(bound.first, depth);
        object(Object::dict(bound.keywords), depth + 1);
    }
    void closure(const Object& object, int depth) {
        const Closure& closure = object.get<Closure>();
        bytes(closure.definition);
        bytes(closure.lambda);
        if (!open_.insert(object.pointer().get()).second) {
            return;  // it reads itself
        }
        for (const Object* one : captured(c_, closure)) {
            this->object(*one, depth + 1);
        }
        objects(closure.defaults, depth);
        open_.erase(object.pointer().get());
    }

    Context& c_;
    Detail detail_;
    std::set<const void*> open_;
};

// --- Which arguments are facts -------------------------------------------------------------------

bool is_number_list(const Object& object) {
    return object.is(ObjectKind::kRange) ||
           (object.is_sequence() &&
            std::all_of(object.items().begin(), object.items().end(), [](const Object& item) {
                return item.is_number() || is_number_list(item);
            }));
}

// Whether a tensor parameter takes the object as a tensor: one that is annotated takes whatever
// has elements. Another one leaves an integer what it is in Python: most count or index something.
bool becomes_tensor(const BoundParameter& one, const Object& object) {
    if (object.is_tensor() || object.is(ObjectKind::kAttribute)) {
        return true;
    }
    bool is_annotated = one.annotation.type.is_known();
    if (object.is_numbers()) {
        return is_annotated && one.annotation.type.is_tensor();
    }
    if (object.is(ObjectKind::kConstant) || object.is_number()) {
        return is_annotated || object.is(ObjectKind::kConstant);
    }
    return is_annotated && one.annotation.type.is_tensor() &&
           (object.is(ObjectKind::kString) || is_number_list(object) ||
            (object.is_sequence() && !object.is_static()));
}

Fact::Passing passing_of(const BoundParameter& one, const Object& object, Detail detail) {
    if (object.is_none() || one.is_variadic()) {
        return Fact::Passing::kStatic;
    }
    if (one.annotation.is_attribute) {
        return detail == Detail::kAnnotations || object.is(ObjectKind::kAttribute)
                   ? Fact::Passing::kAttribute
                   : Fact::Passing::kStatic;
    }
    return becomes_tensor(one, object) ? Fact::Passing::kInput : Fact::Passing::kStatic;
}

// A word for a name: letters, digits and single underscores.
std::string word(std::string_view text) {
    std::string result;
    for (char each : text) {
        bool keep = std::isalnum(static_cast<unsigned char>(each)) != 0;
        if (keep && static_cast<unsigned char>(each) < 0x80) {
            result += each;
        } else if (each == '-') {
            result += "minus";
        } else if (!result.empty() && result.back() != '_') {
            result += '_';
        }
    }
    result = result.substr(0, kMaxWord);
    while (!result.empty() && result.back() == '_') {
        result.pop_back();
    }
    return result;
}

std::string fact_word(const Object& object) {
    switch (object.kind()) {
        case ObjectKind::kClosure: {
            const Closure& closure = object.get<Closure>();
            return closure.definition == nullptr
                       ? "lambda"
                       : std::string(
                             closure.scope->function->tree->names.text(closure.definition->name));
        }
        case ObjectKind::kScript:
            return object.get<ScriptFunction>().name;
        case ObjectKind::kTuple:
        case ObjectKind::kList:
            return object.is_static() ? word(repr(object))
                                      : fmt::format("{}_items", object.items().size());
        case ObjectKind::kDict:
            return fmt::format("{}_items", object.get<DictObject>().items.size());
        default:
            return word(repr(object));
    }
}

}  // namespace

bool is_open_number(const BoundParameter& parameter, const Fact& fact) {
    return fact.object.is_number_tensor() && !parameter.annotation.type.is_known();
}

std::vector<Fact> facts_of(const std::vector<BoundParameter>& parameters,
                           const std::vector<Fact>& arguments, Detail detail) {
    std::vector<Fact> facts = arguments;
    for (size_t i = 0; i < facts.size(); ++i) {
        const BoundParameter& one = parameters[i];
        Fact& fact = facts[i];
        fact.passing = passing_of(one, fact.object, detail);
        if (fact.passing != Fact::Passing::kInput) {
            continue;
        }
        fact.type = one.annotation.type;
        if (!one.annotation.explicit_shape) {
            // Bare FLOAT on a function says the element type: functions are called with any shape.
            fact.type.set_shape(std::nullopt);
        }
        if (is_open_number(one, fact)) {
            fact.type = fact.object.value()->type;  // as long as it is Python's number
        } else if (fact.object.is_tensor()) {
            Type given = known_type(fact.object.value()->type, detail);
            fact.type = merge(fact.type, given).value_or(fact.type);
        }
    }
    return facts;
}

std::optional<std::string> fact_key(Context& c, const std::vector<Fact>& facts, Detail detail) {
    KeyWriter writer(c, detail);
    for (const Fact& fact : facts) {
        writer.text += "ias"[static_cast<size_t>(fact.passing)];
        writer.text += fact.object.is_number_tensor()  ? "n"
                       : fact.object.is_shape_tensor() ? "s"
                                                       : "";
        if (fact.passing == Fact::Passing::kInput) {
            writer.type_of(fact.type);
        } else if (fact.passing == Fact::Passing::kStatic) {
            writer.object(fact.object, 0);
        }
    }
    return writer.ok ? std::optional<std::string>(std::move(writer.text)) : std::nullopt;
}

std::optional<std::string> object_key(Context& c, const Object& object) {
    KeyWriter writer(c, Detail::kAnnotations);
    writer.object(object, 0);
    return writer.ok ? std::optional<std::string>(std::move(writer.text)) : std::nullopt;
}

std::string fact_suffix(const std::vector<BoundParameter>& parameters,
                        const std::vector<Fact>& facts, Detail detail) {
    std::string suffix;
    for (size_t i = 0; i < facts.size() && suffix.size() < kMaxSuffix; ++i) {
        std::string text;
        if (facts[i].passing == Fact::Passing::kStatic) {
            text = fact_word(facts[i].object);
        } else if (facts[i].passing == Fact::Passing::kInput && detail == Detail::kRanks &&
                   facts[i].type.is_tensor() && facts[i].type.has_shape()) {
            text = fmt::format("{}_{}d", name(facts[i].type.element_type()),
                               facts[i].type.shape().size());
        } else if (facts[i].passing == Fact::Passing::kInput && detail != Detail::kAnnotations) {
            text = word(type_text(facts[i].type));
        }
        if (!text.empty()) {
            suffix += fmt::format("{}{}_{}", suffix.empty() ? "" : "__", parameters[i].name, text);
        }
    }
    return suffix;
}

Object replace_tensors(const Object& object, const std::function<Object(const Object&)>& replace) {
    if (object.is_graph_value()) {
        return replace(object);
    }
    if (object.is_sequence()) {
        std::vector<Object> items;
        for (const Object& item : object.items()) {
            items.push_back(replace_tensors(item, replace));
        }
        return object.is(ObjectKind::kList) ? Object::list(std::move(items))
                                            : Object::tuple(std::move(items));
    }
    if (object.is(ObjectKind::kDict)) {
        DictObject copy;
        for (const auto& [key, value] : object.get<DictObject>().items) {
            copy.set(key, replace_tensors(value, replace));
        }
        return Object::dict(std::move(copy));
    }
    return object;
}

bool captures_tensors(Context& c, const Object& object) {
    return CaptureSearch(c).find(object, 0, CaptureSearch::Held::kOpenly);
}

}  // namespace sardonyx::elaborate
