#include "elaborate/scopes/branch.h"

#include "elaborate/objects/owners.h"

namespace sardonyx::elaborate {

Object Branch::value_of(const Context& c, Symbol name) const {
    for (const auto& [changed, value] : changes) {
        if (changed == name) {
            return value;
        }
    }
    const Object* before = find_value(c, name);
    return before != nullptr ? *before : Object::error();
}

void Branch::set(Symbol name, Object value) {
    for (auto& [changed, old] : changes) {
        if (changed == name) {
            old = std::move(value);
            return;
        }
    }
    changes.emplace_back(name, std::move(value));
}

bool is_held_elsewhere(const Context& c, const Object& object, Symbol name,
                       std::initializer_list<const Branch*> branches) {
    const Object* before = find_value(c, name);
    int holders = before != nullptr && before->pointer() == object.pointer() ? 2 : 1;
    for (const Branch* branch : branches) {
        for (const auto& [changed, value] : branch->changes) {
            holders += changed == name && value.pointer() == object.pointer() ? 1 : 0;
        }
    }
    return is_shared(c, object, holders);
}

}  // namespace sardonyx::elaborate
