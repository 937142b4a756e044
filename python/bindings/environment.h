// What the names of a Python function mean to the compiler: its closure cells, its globals, and
// what Python itself answers for objects that the compiler does not know.
#pragma once

#include "bindings/bindings.h"
#include "elaborate/objects/environment.h"

namespace sardonyx::python {

class PythonEnvironment final : public elaborate::Environment {
  public:
    explicit PythonEnvironment(nb::object function);

    std::optional<elaborate::Object> lookup(std::string_view name) override;
    std::vector<std::string> names() override;
    std::vector<int64_t> opset_versions() override;
    Answer attribute(const elaborate::Object& opaque, std::string_view name) override;
    Answer items(const elaborate::Object& opaque, int64_t limit) override;
    Answer text_of(const elaborate::Object& opaque, std::string_view how,
                   std::string_view spec) override;
    Answer item(const elaborate::Object& opaque, const elaborate::Object& index) override;
    Answer call(const elaborate::Object& opaque, std::span<const elaborate::Object> arguments,
                std::span<const std::pair<std::string, elaborate::Object>> keywords) override;
    bool is_for_onnxscript() const override;
    std::optional<elaborate::Object> own_class(const elaborate::Object& opaque) override;
    std::optional<elaborate::Object> library_function(const elaborate::Object& opaque) override;
    bool is_generator(const elaborate::Object& opaque) override;
    std::optional<elaborate::Object> inline_script(const elaborate::Object& opaque) override;

    // The opset that a name refers to now; nothing for other objects, which are not inspected. An
    // instance of a user's subclass of Opset counts as another object, because it may have methods.
    std::optional<elaborate::OpsetObject> opset(std::string_view name) const;

    const nb::object& function() const { return function_; }
    // For Python's garbage collector: from then on, no name has a value.
    void clear() {
        function_.reset();
        globals_ = {};
    }

  private:
    // The value of a name, from the closure or else the globals; not valid: it is in neither.
    nb::object value(nb::handle key) const;
    nb::object watch(nb::handle object) const;
    // A `def` in the folder of the function's file, or below it, that a call of the object runs,
    // and what its first parameter is bound to; not valid: there is none.
    struct OwnFunction {
        nb::object function, self;
    };
    OwnFunction own_function(const elaborate::Object& opaque) const;

    nb::object function_;
    // Of the function, which never gets others.
    nb::handle globals_;
    bool has_closure_ = false;
};

// A Python object as the compiler sees it; what it does not know becomes kOpaque.
elaborate::Object object_from_python(nb::handle object);
// The object as one that only Python can look into.
elaborate::Object opaque_from_python(nb::handle object);
// The reverse, for static objects; nothing for those that have no meaning in Python.
nb::object object_to_python(const elaborate::Object& object);

// The script behind a sardonyx.OnnxFunction (script.cpp); null when `object` is none.
std::shared_ptr<void> script_of(nb::handle object);
// A plain function as a script whose calls run in place. Null: its text cannot be read.
std::shared_ptr<void> script_of_function(nb::object function);

}  // namespace sardonyx::python
