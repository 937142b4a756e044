#include "elaborate/library/weights.h"

#include <fmt/format.h>

#include <filesystem>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {
namespace {

// A path as the script writes it: absolute, or from the folder of the script's file.
std::string resolved(const Context& c, const std::string& path) {
    namespace fs = std::filesystem;
    fs::path folder = fs::path(std::string(c.program.sources.path(c.tree().file))).parent_path();
    return (folder / path).lexically_normal().string();
}

std::optional<NamedTensors> read_named(Context& c, const Arguments& a, std::string_view name) {
    if (!a.positional[0].is(ObjectKind::kString)) {
        refuse(c, a.ranges[0], fmt::format("`{}` of {}", name, kind_name(a.positional[0])),
               "give the path of a file as a string");
        return std::nullopt;
    }
    std::string path = resolved(c, a.positional[0].text());
    Result<NamedTensors> tensors = c.program.read_weights != nullptr
                                       ? c.program.read_weights(path)
                                       : Error{"files of weights cannot be read here"};
    if (!tensors.ok()) {
        c.report(kUnreadableWeights, a.ranges[0], tensors.error().message)
            .with_help("paths begin at the folder of the script's file");
        return std::nullopt;
    }
    c.program.sources.add(std::move(path), {});  // it is one of the files of the run
    return std::move(*tensors);
}

Object dict_of(NamedTensors tensors) {
    DictObject dict;
    for (auto& [name, tensor] : tensors) {
        dict.items.emplace_back(Object::string(std::move(name)),
                                Object::make(ObjectKind::kConstant, std::move(tensor)));
    }
    return Object::dict(std::move(dict));
}

}  // namespace

Object load_weights(Context& c, const Arguments& arguments) {
    std::optional<NamedTensors> tensors = read_named(c, arguments, "load_weights");
    return tensors ? dict_of(std::move(*tensors)) : Object::error();
}

Object load_array(Context& c, const Arguments& arguments) {
    std::optional<NamedTensors> tensors = read_named(c, arguments, "np.load");
    if (!tensors) {
        return Object::error();
    }
    bool is_one = tensors->size() == 1 && tensors->front().first.empty();
    return is_one ? Object::make(ObjectKind::kConstant, std::move(tensors->front().second))
                  : dict_of(std::move(*tensors));
}

}  // namespace sardonyx::elaborate
