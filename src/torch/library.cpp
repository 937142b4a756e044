#include "torch/library.h"

#include <algorithm>
#include <span>

#include "torch/library_table.h"

namespace sardonyx::torch {
namespace {

// The row whose first column is the key, in a table that is sorted by it; null: none.
template <typename Row>
const Row* find_row(std::span<const Row> rows, std::string_view Row::*column,
                    std::string_view key) {
    auto found = std::lower_bound(
        rows.begin(), rows.end(), key,
        [&](const Row& row, std::string_view wanted) { return row.*column < wanted; });
    return found != rows.end() && (*found).*column == key ? &*found : nullptr;
}

// Null: the library has no such file, or it is the package's own, whose text is left out.
const FileRow* file_row(std::string_view path) {
    bool is_below = path.substr(0, kFolder.size()) == kFolder && !is_library_package(path);
    return is_below ? find_row(std::span(kFiles, kFileCount), &FileRow::name,
                               path.substr(kFolder.size()))
                    : nullptr;
}

}  // namespace

bool is_in_library(std::string_view module) {
    constexpr std::string_view kPackage = "sardonyx.torch";
    return module.substr(0, kPackage.size()) == kPackage &&
           (module.size() == kPackage.size() || module[kPackage.size()] == '.');
}

bool is_declarations(std::string_view path) {
    return path == "<sardonyx>/torch/aten/declare.py";
}

bool is_torch_package(std::string_view path) {
    return path == "<sardonyx>/torch/__init__.py";
}

std::optional<std::string_view> library_file(std::string_view path) {
    if (is_torch_package(path) || is_library_package(path)) {
        return "";
    }
    const FileRow* row = file_row(path);
    return row != nullptr ? std::optional(row->text) : std::nullopt;
}

std::span<const StatementRow> library_statements(std::string_view path) {
    const FileRow* row = file_row(path);
    return row != nullptr ? row->statements : std::span<const StatementRow>();
}

bool is_library_package(std::string_view path) {
    constexpr std::string_view kFile = "__init__.py";
    return path.size() == kFolder.size() + kFile.size() &&
           path.substr(0, kFolder.size()) == kFolder && path.substr(kFolder.size()) == kFile;
}

std::optional<LibraryFunction> library_function(std::string_view name) {
    const FunctionRow* row =
        find_row(std::span(kFunctions, kFunctionCount), &FunctionRow::name, name);
    if (row == nullptr) {
        return std::nullopt;
    }
    return LibraryFunction{std::string(kFolder) + std::string(row->file), row->function};
}

std::vector<std::string_view> library_names() {
    std::vector<std::string_view> names;
    for (const FunctionRow& row : std::span(kFunctions, kFunctionCount)) {
        names.push_back(row.name);
    }
    return names;
}

std::string_view overload_name(std::string_view overload) {
    const OverloadRow* row =
        find_row(std::span(kOverloads, kOverloadCount), &OverloadRow::overload, overload);
    return row != nullptr ? row->name : std::string_view();
}

std::optional<std::string> own_overload(std::string_view name) {
    size_t colons = name.find("::");
    if (colons == 0 || colons == std::string_view::npos || colons + 2 == name.size()) {
        return std::nullopt;
    }
    bool has_overload = name.find('.', colons) != std::string_view::npos;
    return std::string(name) + (has_overload ? "" : ".default");
}

}  // namespace sardonyx::torch
