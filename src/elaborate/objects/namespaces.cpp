// Namespaces: classes, their instances and the members of enumerations, as objects.

#include "elaborate/objects/namespaces.h"

#include <algorithm>

#include "elaborate/objects/context.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

Namespace::Namespace(Kind kind, std::string name, const Namespace* of)
    : kind(kind), name(std::move(name)), of(of) {
    if (is_class()) {
        order_.push_back(this);
        if (of != nullptr) {
            order_.insert(order_.end(), of->order_.begin(), of->order_.end());
        }
    }
}

bool Namespace::set_bases(const std::vector<const Namespace*>& bases) {
    // Python's C3: of the orders of the bases, and of the bases themselves, the first class again
    // and again that stands in no rest of them.
    std::vector<std::vector<const Namespace*>> rests;
    for (const Namespace* base : bases) {
        rests.push_back(base->order_);
    }
    rests.push_back(bases);
    std::vector<const Namespace*> order{this};
    auto is_inside = [&rests](const Namespace* one) {
        return std::any_of(rests.begin(), rests.end(), [one](const auto& rest) {
            return !rest.empty() && std::find(rest.begin() + 1, rest.end(), one) != rest.end();
        });
    };
    auto is_over = [](const auto& rest) { return rest.empty(); };
    while (!std::all_of(rests.begin(), rests.end(), is_over)) {
        auto next = std::find_if(rests.begin(), rests.end(), [&](const auto& rest) {
            return !rest.empty() && !is_inside(rest.front());
        });
        if (next == rests.end()) {
            return false;
        }
        const Namespace* first = next->front();
        order.push_back(first);
        for (auto& rest : rests) {
            rest.erase(std::remove(rest.begin(), rest.end(), first), rest.end());
        }
    }
    order_ = std::move(order);
    return true;
}

std::optional<Object> Namespace::lookup_own(std::string_view wanted) {
    if (unknown_all != nullptr) {
        return unknown_object(unknown_all);
    }
    const Object* own = find_own(wanted);
    return own != nullptr ? std::optional(*own) : std::nullopt;
}

std::optional<Object> Namespace::lookup(std::string_view wanted) {
    if (!is_class()) {
        std::optional<Object> own = lookup_own(wanted);
        return own || of == nullptr ? own : const_cast<Namespace*>(of)->lookup(wanted);
    }
    for (const Namespace* one : order_) {
        if (std::optional<Object> found = const_cast<Namespace*>(one)->lookup_own(wanted)) {
            return found;
        }
    }
    return std::nullopt;
}

const Object* Namespace::find_own(std::string_view wanted) const {
    auto found = std::find_if(values_.begin(), values_.end(),
                              [wanted](const auto& one) { return one.first == wanted; });
    return found != values_.end() ? &found->second : nullptr;
}

Object Namespace::object() {
    std::shared_ptr<void> made = self_.lock();
    Object found = made != nullptr ? Object::from_pointer(ObjectKind::kModule, made)
                                   : Object::make(ObjectKind::kModule, ModuleObject{name, this});
    self_ = found.pointer();
    return found;
}

std::vector<std::string> Namespace::names() {
    std::vector<std::string> all;
    if (!is_class() && of != nullptr) {
        all = const_cast<Namespace*>(of)->names();
    }
    for (size_t i = order_.size(); i-- > 1;) {
        for (const auto& [one, value] : order_[i]->values_) {
            all.push_back(one);
        }
    }
    for (const auto& [one, value] : values_) {
        all.push_back(one);
    }
    return all;
}

void Namespace::set(std::string_view wanted, Object value) {
    for (auto& [one, old] : values_) {
        if (one == wanted) {
            old = std::move(value);
            return;
        }
    }
    values_.emplace_back(wanted, std::move(value));
}

void Namespace::remove(std::string_view wanted) {
    values_.erase(std::remove_if(values_.begin(), values_.end(),
                                 [wanted](const auto& one) { return one.first == wanted; }),
                  values_.end());
}

Namespace* as_namespace(const Object& object) {
    return object.is(ObjectKind::kModule)
               ? dynamic_cast<Namespace*>(object.get<ModuleObject>().environment)
               : nullptr;
}

bool is_class(const Object& object) {
    const Namespace* own = as_namespace(object);
    return own != nullptr && own->is_class();
}

Namespace* as_member(const Object& object) {
    if (const OpaqueObject* held = object.member()) {
        const auto* member = dynamic_cast<const ValuedMember*>(held);
        return member != nullptr ? member->member : nullptr;
    }
    Namespace* found = as_namespace(object);
    return found != nullptr && found->kind == Namespace::Kind::kMember ? found : nullptr;
}

bool ValuedMember::redefines(std::string_view method) const {
    return member->lookup(method).has_value();
}

bool is_shown_by_value(const Object& object) {
    Namespace* member = as_member(object);
    return member != nullptr && member->of != nullptr && member->of->enumeration != "Enum";
}

bool is_by_value(const Object& object) {
    const Namespace* found = as_namespace(object);
    return found != nullptr && found->kind != Namespace::Kind::kMember;
}

Namespace* compared_by_fields(const Object& object) {
    Namespace* found = as_namespace(object);
    bool has_class =
        found != nullptr && found->kind == Namespace::Kind::kInstance && found->of != nullptr;
    bool is_compared =
        has_class && (found->of->is_open ||
                      (found->of->kind == Namespace::Kind::kDataclass && found->of->has_eq));
    return is_compared ? found : nullptr;
}

bool are_ordered(const Object& a, const Object& b) {
    const Namespace *left = compared_by_fields(a), *right = compared_by_fields(b);
    return left != nullptr && right != nullptr && left->of == right->of && left->of->has_order;
}

Object fields_of(Namespace& instance) {
    if (instance.of->is_open) {
        DictObject held;
        for (const std::string& name : instance.names()) {
            held.set(Object::string(name), instance.lookup(name).value_or(Object::error()));
        }
        return Object::dict(std::move(held));
    }
    std::vector<Object> values;
    for (const std::string& field : instance.of->fields) {
        values.push_back(instance.lookup(field).value_or(Object::error()));
    }
    return Object::tuple(std::move(values));
}

std::vector<Namespace::Parameter> parameters_of(const Namespace& type) {
    std::vector<Namespace::Parameter> parameters = type.parameters;
    for (size_t i = 0; type.parameters.empty() && i < type.fields.size(); ++i) {
        parameters.push_back({type.fields[i]});
    }
    return parameters;
}

std::pair<Object, Namespace*> make_namespace(Context& c, Namespace::Kind kind, std::string name,
                                             const Namespace* of) {
    auto made = std::make_unique<Namespace>(kind, std::move(name), of);
    Namespace* place = made.get();
    place->is_of_script = !c.runs_file || c.graph->name == kPythonGraph;
    place->made_by = c.unit;
    c.program.unknowns->namespaces.push_back(std::move(made));
    Object object = place->object();
    claim(c, object);
    return {object, place};
}

bool is_field_of(const Object& value, std::string_view keyword) {
    if (!value.is(ObjectKind::kMethod) || value.get<MethodObject>().name != kField) {
        return false;
    }
    return keyword.empty() || value.get<MethodObject>().self.get<DictObject>().find(
                                  Object::string(std::string(keyword))) != nullptr;
}

std::optional<std::vector<std::string>> texts_of(const Object& names) {
    if (names.is(ObjectKind::kString)) {
        return std::vector<std::string>{names.text()};
    }
    bool is_list = names.is_sequence() &&
                   std::all_of(names.items().begin(), names.items().end(),
                               [](const Object& one) { return one.is(ObjectKind::kString); });
    if (!is_list) {
        return std::nullopt;
    }
    std::vector<std::string> all;
    for (const Object& one : names.items()) {
        all.push_back(one.text());
    }
    return all;
}

const Namespace* class_of(const Object& object) {
    if (object.tuple_class() != nullptr) {
        return object.tuple_class();
    }
    Namespace* member = as_member(object);
    Namespace* found = member != nullptr ? member : as_namespace(object);
    bool is_instance = found != nullptr && (found->kind == Namespace::Kind::kInstance ||
                                            found->kind == Namespace::Kind::kMember);
    return is_instance ? found->of : nullptr;
}

bool is_derived(const Namespace* type, const Namespace* base) {
    const std::vector<const Namespace*>& order = type->order();
    return std::find(order.begin(), order.end(), base) != order.end();
}

bool is_a(const Object& object, const Namespace* type) {
    const Namespace* own = class_of(object);
    return own != nullptr && is_derived(own, type);
}

std::optional<Object> special_method(const Object& instance, std::string_view name) {
    Namespace* own = as_namespace(instance);
    if (own == nullptr || own->kind != Namespace::Kind::kInstance || own->unknown_all != nullptr ||
        own->of == nullptr) {
        return std::nullopt;
    }
    return const_cast<Namespace*>(own->of)->lookup(name);
}

bool has_own_equality(const Object& object) {
    return special_method(object, "__eq__").has_value() ||
           special_method(object, "__ne__").has_value();
}

std::optional<std::vector<Object>> members_of(const Object& enumeration) {
    Namespace* type = as_namespace(enumeration);
    if (type == nullptr || type->kind != Namespace::Kind::kEnumeration || type->fields.empty() ||
        type->unknown_all != nullptr) {
        return std::nullopt;
    }
    std::vector<Object> members;
    for (const std::string& name : type->fields) {
        members.push_back(*type->lookup(name));
    }
    return members;
}

std::optional<Object> member_named(const Object& enumeration, const Object& name) {
    if (!name.is(ObjectKind::kString) || !members_of(enumeration)) {
        return std::nullopt;
    }
    Namespace* type = as_namespace(enumeration);
    std::optional<Object> found = type->lookup(name.text());
    bool is_listed =
        std::find(type->fields.begin(), type->fields.end(), name.text()) != type->fields.end();
    return found && (is_listed || as_member(*found) != nullptr) ? found : std::nullopt;
}

std::optional<Object> member_of_value(const Object& enumeration, const Object& value) {
    std::optional<std::vector<Object>> members = members_of(enumeration);
    for (size_t i = 0; members && i < members->size(); ++i) {
        Namespace* member = as_member((*members)[i]);
        if (equal(member != nullptr ? *member->lookup("value") : (*members)[i], value)) {
            return (*members)[i];
        }
    }
    return std::nullopt;
}

}  // namespace sardonyx::elaborate
