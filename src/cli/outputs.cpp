#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "cli/array_text.h"
#include "diagnostics/glyphs.h"
#include "weights/npy.h"

namespace sardonyx::cli {
namespace {

constexpr size_t kMaxFileName = 100;

std::string file_name(std::string_view name) {
    std::string result;
    for (char c : name.substr(0, kMaxFileName)) {
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                        (c == '.' && !result.empty());
        result += is_plain ? c : '_';
    }
    return result.empty() ? "_" : result;
}

// A name that no earlier output has.
std::string unique_name(std::set<std::string>& taken, const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken.insert(name).second; ++i) {
        name = fmt::format("{}_{}", wanted, i);
    }
    return name;
}

Result<void> write_tensor(const std::string& folder, const std::string& name,
                          const Tensor& tensor) {
    Result<std::string> bytes = weights::write_npy(tensor);
    SDX_TRY(bytes);
    return write_file((std::filesystem::path(folder) / (name + ".npy")).string(), *bytes);
}

}  // namespace

std::string result_text(std::string_view name, const eval::RuntimeValue& value) {
    std::string shown = diagnostics::visible(name);
    std::string text = fmt::format("{}: {}\n", shown, value.describe());
    if (value.is_tensor()) {
        text += array_text(value.tensor()) + "\n";
    } else if (value.is_map()) {
        text += array_text(value.map().keys) + "\n" + array_text(value.map().values) + "\n";
    } else if (value.is_sequence()) {
        const std::vector<eval::RuntimeValue>& items = value.sequence().items;
        for (size_t i = 0; i < items.size(); ++i) {
            text += result_text(fmt::format("{}[{}]", shown, i), items[i]);
        }
    }
    return text;
}

Result<void> write_results(const std::string& folder, const std::vector<std::string>& names,
                           const std::vector<eval::RuntimeValue>& values) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return Error{fmt::format("cannot make the folder `{}`: {}", folder, failed.message())};
    }
    std::set<std::string> taken;
    for (size_t i = 0; i < values.size(); ++i) {
        std::string name = file_name(names[i]);
        if (values[i].is_tensor()) {
            SDX_TRY(write_tensor(folder, unique_name(taken, name), values[i].tensor()));
        } else if (values[i].is_map()) {
            const eval::Map& map = values[i].map();
            SDX_TRY(write_tensor(folder, unique_name(taken, name + "_keys"), map.keys));
            SDX_TRY(write_tensor(folder, unique_name(taken, name + "_values"), map.values));
        } else if (values[i].is_sequence()) {
            const std::vector<eval::RuntimeValue>& items = values[i].sequence().items;
            for (size_t j = 0; j < items.size(); ++j) {
                if (!items[j].is_tensor()) {
                    return Error{
                        fmt::format("`{}` holds sequences or maps: there are no .npy files of "
                                    "them",
                                    names[i])};
                }
                SDX_TRY(write_tensor(folder, unique_name(taken, fmt::format("{}_{}", name, j)),
                                     items[j].tensor()));
            }
        }
    }
    return {};
}

}  // namespace sardonyx::cli
