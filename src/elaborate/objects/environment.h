// Environment: what the names of a script mean beyond its own locals. The command line's is a file
// (module.h); Python's is the live globals and closure cells (python/bindings).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

class Environment {
  public:
    virtual ~Environment() = default;

    // The value of a global name; nothing when there is no such name.
    // One that is not known is an `Unbound` with its cause.
    virtual std::optional<Object> lookup(std::string_view name) = 0;
    // The same by the symbol of file_tree().
    virtual std::optional<Object> lookup_symbol(Symbol name, std::string_view text) {
        (void)name;
        return lookup(text);
    }
    // Binds a global name, while a file is run.
    virtual void bind(Symbol name, Object value) { (void)name, (void)value; }
    // The same for the words of a message, which must not bring others: nothing is read or
    // evaluated that the script itself does not ask for.
    virtual std::optional<Object> known(std::string_view name) { return lookup(name); }
    // For "did you mean".
    virtual std::vector<std::string> names() = 0;
    // The versions of ai.onnx that the file has opsets of by name.
    virtual std::vector<int64_t> opset_versions() {
        std::vector<int64_t> versions;
        for (const std::string& name : names()) {
            std::optional<Object> object = known(name);
            if (object && object->is(ObjectKind::kOpset) &&
                object->get<OpsetObject>().domain.empty()) {
                versions.push_back(object->get<OpsetObject>().version);
            }
        }
        return versions;
    }
    // Whether no statement of the file, run or not, can define the name.
    virtual bool never_binds(std::string_view name) {
        (void)name;
        return false;
    }
    // Whether all sources are those of a program for onnxscript (tolerance.h).
    virtual bool is_for_onnxscript() const { return false; }
    // The whole file, where repairs may change more than the script; null: it is not at hand.
    virtual const syntax::Tree* file_tree() const { return nullptr; }

    // Answers for opaque objects; the error says why there is none. Only Python's has any.
    struct Answer {
        std::optional<Object> value;
        std::string error;
        std::function<void()> take_back = nullptr;  // of a call that has changed objects
        bool is_held = false;  // what a call has given, or a part of it, is kept elsewhere, too
    };
    virtual Answer attribute(const Object& opaque, std::string_view name) {
        (void)opaque, (void)name;
        return {};
    }
    virtual Answer item(const Object& opaque, const Object& index) {
        (void)opaque, (void)index;
        return {};
    }
    // A list of what a loop over it gives, each time the same and at most `limit`; not of what is
    // used up by that, and not of what has no order.
    virtual Answer items(const Object& opaque, int64_t limit) {
        (void)opaque, (void)limit;
        return {};
    }
    virtual Answer call(const Object& opaque, std::span<const Object> arguments,
                        std::span<const std::pair<std::string, Object>> keywords) {
        (void)opaque, (void)arguments, (void)keywords;
        return {};
    }
    // The text that Python shows of it: by str, repr, ascii, or format with a specification.
    virtual Answer text_of(const Object& opaque, std::string_view how, std::string_view spec) {
        (void)opaque, (void)how, (void)spec;
        return {};
    }
    // A class of the script's own files as one whose instances are the compiler's; nothing: it is
    // none, or it means something else.
    virtual std::optional<Object> own_class(const Object& opaque) {
        (void)opaque;
        return std::nullopt;
    }
    // The function of the library that means the same, also one that Python calls itself.
    virtual std::optional<Object> library_function(const Object& opaque) {
        (void)opaque;
        return std::nullopt;
    }
    // Whether it is a function or method of the script's own files that is a generator.
    virtual bool is_generator(const Object& opaque) {
        (void)opaque;
        return false;
    }
    // A function or method as a script whose calls run in place, a method with its object in front
    // of the arguments; nothing: it is none, or not of the script's own files.
    virtual std::optional<Object> inline_script(const Object& opaque) {
        (void)opaque;
        return std::nullopt;
    }
};

}  // namespace sardonyx::elaborate
