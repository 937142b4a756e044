#include "elaborate/objects/exception_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

namespace {

// What Python's own class does with these arguments beside keeping them is not known here: it has
// keywords, or members made of several arguments. False after a diagnostic.
bool takes_plain(Context& c, std::string_view builtin, std::string_view name, const Arguments& a,
                 size_t first) {
    bool is_of_os = is_subclass({builtin}, {"OSError"}) && a.positional.size() > first + 1;
    if (is_of_os || !a.keywords.empty()) {
        refuse(c, a.range,
               fmt::format("the exception `{}` with {}", name,
                           is_of_os ? "several arguments" : "keywords"),
               "give it one text");
    }
    return !is_of_os && a.keywords.empty();
}

// Python asks its own classes of exceptions before those behind them, which are of no exceptions.
bool is_behind(const Namespace& type, std::string_view name) {
    bool is_found = false;
    for (const Namespace* one : type.order()) {
        bool has_it = const_cast<Namespace*>(one)->lookup_own(name).has_value();
        if (has_it && !is_found && one->exception.empty()) {
            return true;
        }
        is_found = is_found || has_it;
    }
    return false;
}

}  // namespace

Object new_exception(Context& c, Namespace& type, const Arguments& a) {
    constexpr std::string_view kPythons[] = {"__init__", "__str__", "__repr__"};
    bool is_hidden = type.lookup(kArgs).has_value() ||
                     std::any_of(std::begin(kPythons), std::end(kPythons),
                                 [&type](std::string_view name) { return is_behind(type, name); });
    if (is_hidden) {
        return refuse(c, a.range, fmt::format("an instance of the exception `{}`", type.name),
                      "its classes have members that Python finds in another order: give them "
                      "other names");
    }
    bool has_own_init = type.lookup("__init__").has_value();
    if (!has_own_init && !takes_plain(c, type.exception, type.name, a, 0)) {
        return Object::error();
    }
    auto [object, made] = make_namespace(c, Namespace::Kind::kInstance, type.name, &type);
    made->set(kArgs, Object::tuple(a.positional));
    return object;
}

Object builtin_exception(Context& c, std::string_view name, const Arguments& a) {
    const auto& known = c.program.unknowns->namespaces;
    auto found = std::find_if(known.begin(), known.end(), [name](const auto& one) {
        const auto* own = dynamic_cast<const Namespace*>(one.get());
        return own != nullptr && own->is_pythons && own->exception == name;
    });
    Namespace* type =
        found != known.end()
            ? static_cast<Namespace*>(found->get())
            : make_namespace(c, Namespace::Kind::kClass, std::string(name), nullptr).second;
    type->is_pythons = true;
    type->exception = exception_name(name);
    return new_exception(c, *type, a);
}

Object exception_init(Context& c, const Arguments& a) {
    Namespace* own = a.positional.empty() ? nullptr : as_namespace(a.positional[0]);
    ExceptionType type = own != nullptr ? exception_of(a.positional[0]) : ExceptionType();
    if (type.builtin.empty() || own->new_in != c.graph) {
        return refuse(c, a.range, "`__init__` of an exception that is made already",
                      "call it in `__init__`, outside of branches and loops of the graph");
    }
    if (!takes_plain(c, type.builtin, own->name, a, 1)) {
        return Object::error();
    }
    own->set(kArgs, Object::tuple({a.positional.begin() + 1, a.positional.end()}));
    return Object::none();
}

}  // namespace sardonyx::elaborate
