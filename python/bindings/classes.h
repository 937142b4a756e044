// Classes of Python that the script's own files define, as classes of the compiler: for instances
// that hold tensors, which Python cannot make.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bindings.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/object.h"

namespace sardonyx::python {

// A class of Python as one of the compiler's. Its members are those that the class has when they
// are asked for, as `member_of` and `names_of` of a module of the package say.
class PythonClass final : public elaborate::Namespace {
  public:
    PythonClass(const char* module, nb::handle type, Kind kind, std::string name,
                const std::optional<elaborate::Object>& of);

    std::optional<elaborate::Object> lookup_own(std::string_view name) override;
    std::vector<std::string> names() override;

  private:
    const char* module_;
    nb::object type_;
};

// Keeps a class for the innermost compilation, which knows it by the key from then on.
elaborate::Object keep_class(std::unique_ptr<PythonClass> made, nb::handle type, nb::handle key);

// The class as one of the compiler's; nothing: it means something else, or is not of the folder of
// the script, whose file is `path`.
std::optional<elaborate::Object> class_of_program(nb::handle type, const std::string& path);

}  // namespace sardonyx::python
