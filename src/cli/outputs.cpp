#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/write_file.h"
#include "cli/array_text.h"
#include "diagnostics/glyphs.h"
#include "weights/npy.h"
#include "weights/zip_writer.h"

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

// Where results go: files of a folder, or members of an archive.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual Result<void> add(const std::string& name, const Tensor& tensor) = 0;
};

class FolderSink final : public Sink {
  public:
    explicit FolderSink(const std::string& folder) : folder_(folder) {}
    Result<void> add(const std::string& name, const Tensor& tensor) override {
        SDX_ASSIGN(std::string bytes, weights::write_npy(tensor));
        std::string_view part = bytes;
        return files_.write((std::filesystem::path(folder_) / (name + ".npy")).string(),
                            {&part, 1});
    }
    Result<void> finish() { return files_.put_in_place(); }

  private:
    const std::string& folder_;
    NewFiles files_;
};

class ArchiveSink final : public Sink {
  public:
    Result<void> add(const std::string& name, const Tensor& tensor) override {
        Result<std::string> bytes = weights::write_npy(tensor);
        SDX_TRY(bytes);
        return archive_.add(name + ".npy", *bytes);
    }
    std::string finish() { return archive_.finish(); }

  private:
    weights::ZipWriter archive_;
};

Result<void> add_results(Sink& sink, const std::vector<std::string>& names,
                         const std::vector<eval::RuntimeValue>& values) {
    std::set<std::string> taken;
    for (size_t i = 0; i < values.size(); ++i) {
        std::string name = file_name(names[i]);
        if (values[i].is_tensor()) {
            SDX_TRY(sink.add(unique_name(taken, name), values[i].tensor()));
        } else if (values[i].is_map()) {
            const eval::Map& map = values[i].map();
            SDX_TRY(sink.add(unique_name(taken, name + "_keys"), map.keys));
            SDX_TRY(sink.add(unique_name(taken, name + "_values"), map.values));
        } else if (values[i].is_sequence()) {
            const std::vector<eval::RuntimeValue>& items = values[i].sequence().items;
            for (size_t j = 0; j < items.size(); ++j) {
                if (!items[j].is_tensor()) {
                    return Error{
                        fmt::format("`{}` holds sequences or maps: there are no .npy files of "
                                    "them",
                                    names[i])};
                }
                SDX_TRY(
                    sink.add(unique_name(taken, fmt::format("{}_{}", name, j)), items[j].tensor()));
            }
        }
    }
    return {};
}

std::string json_of(const eval::RuntimeValue& value) {
    if (value.is_tensor()) {
        return fmt::format(R"({{"type": {}, "data": {}}})", json_string(value.describe()),
                           json_text(value.tensor()));
    }
    if (value.is_map()) {
        return fmt::format(R"({{"keys": {}, "values": {}}})", json_text(value.map().keys),
                           json_text(value.map().values));
    }
    if (!value.is_sequence()) {
        return "null";
    }
    std::string list;
    for (const eval::RuntimeValue& item : value.sequence().items) {
        list += (list.empty() ? "" : ", ") + json_of(item);
    }
    return "[" + list + "]";
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

std::string results_json(const std::vector<std::string>& names,
                         const std::vector<eval::RuntimeValue>& values) {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
        text += fmt::format("{}  {}: {}", i == 0 ? "" : ",\n", json_string(names[i]),
                            json_of(values[i]));
    }
    return text.empty() ? "{}\n" : "{\n" + text + "\n}\n";
}

Result<void> write_results(const std::string& path, const std::vector<std::string>& names,
                           const std::vector<eval::RuntimeValue>& values) {
    if (std::filesystem::path(path).extension() == ".npz") {
        ArchiveSink archive;
        SDX_TRY(add_results(archive, names, values));
        return write_file(path, archive.finish());
    }
    std::error_code failed;
    std::filesystem::create_directories(path, failed);
    if (failed) {
        return Error{fmt::format("cannot make the folder `{}`: {}", path, failed.message())};
    }
    FolderSink folder(path);
    SDX_TRY(add_results(folder, names, values));
    return folder.finish();
}

}  // namespace sardonyx::cli
