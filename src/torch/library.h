// The library of PyTorch's operators (lib/torch), which is in the program: its files, and which
// function of them is meant by an overload or a name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::torch {

// The folder that the packages seem to lie in, and that of the library.
inline constexpr std::string_view kRoot = "<sardonyx>";
inline constexpr std::string_view kFolder = "<sardonyx>/torch/aten/";

// Whether a module, such as `sardonyx.torch.aten`, lies in kRoot.
bool is_in_library(std::string_view module);
// Whether the path is that of the file that says how functions are declared.
bool is_declarations(std::string_view path);
// Whether the path is that of `sardonyx.torch` itself.
bool is_torch_package(std::string_view path);
// The text of a file below kRoot; nothing: there is no such file.
std::optional<std::string_view> library_file(std::string_view path);
// Whether the path is that of the package itself, whose names are those of the table.
bool is_library_package(std::string_view path);

// A statement at the top level of a file, and at which byte it begins, with its decorators.
struct StatementRow {
    std::string_view function;  // the one that it defines; empty: it does something else
    uint32_t begin;
};
// Those of a file of the library, in order; empty for other files.
std::span<const StatementRow> library_statements(std::string_view path);

struct LibraryFunction {
    std::string path;
    std::string_view name;  // in that file
};
// What a script calls `aten.name`.
std::optional<LibraryFunction> library_function(std::string_view name);

// All of them.
std::vector<std::string_view> library_names();

// What scripts call an overload, such as `aten::add.Tensor`; empty: the library does not have it.
std::string_view overload_name(std::string_view overload);

// Operators of the user: an overload as a function of a module, which is a file.
struct OwnOperator {
    std::string module, function;
    std::string path;  // of the file; empty: no file has it
};
using OwnOperators = std::map<std::string, OwnOperator, std::less<>>;

// The overload that a user means by `mylib::op` or `mylib::op.overload`; nothing: no such name.
std::optional<std::string> own_overload(std::string_view name);

}  // namespace sardonyx::torch
