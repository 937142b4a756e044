#include "cli/testcase.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/write_file.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> bytes_of(std::string_view name, const eval::RuntimeValue& value) {
    if (value.is_tensor()) {
        return proto::write_tensor(value.tensor(), name);
    }
    if (value.is_sequence()) {
        std::vector<std::string> items;
        proto::ItemKind kind = proto::ItemKind::kTensor;
        for (const eval::RuntimeValue& item : value.sequence().items) {
            kind = item.is_map()        ? proto::ItemKind::kMap
                   : item.is_sequence() ? proto::ItemKind::kSequence
                                        : kind;
            SDX_ASSIGN(std::string one, bytes_of({}, item));
            items.push_back(std::move(one));
        }
        return proto::write_sequence(kind, items, name);
    }
    if (value.is_map()) {
        return proto::write_map(value.map().keys, value.map().values, name);
    }
    return Error{fmt::format("`{}` is nothing: the tests have no file for it", name)};
}

// A folder that is new, or holds such a test.
Result<void> check_folder(const fs::path& folder) {
    std::error_code failed;
    if (!fs::exists(folder, failed)) {
        return {};
    }
    if (!fs::is_directory(folder, failed)) {
        return Error{fmt::format("`{}` is not a folder: name another one", folder.string())};
    }
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        std::string name = entry.path().filename().string();
        if (name != "model.onnx" && name != "test_data_set_0") {
            return Error{
                fmt::format("`{}` has `{}` in it, which is not part of a test: name "
                            "another folder",
                            folder.string(), name)};
        }
    }
    return {};
}

// Folders that are made for files, and go again if these are not written: after an error or a stop.
class NewFolders {
  public:
    NewFolders() = default;
    NewFolders(const NewFolders&) = delete;
    NewFolders& operator=(const NewFolders&) = delete;
    ~NewFolders() {
        std::error_code ignored;
        for (const fs::path& folder : made_) {
            fs::remove(folder, ignored);  // if it is empty
        }
    }

    Result<void> make(const fs::path& folder) {
        std::error_code failed;
        for (fs::path one = folder; !one.empty() && !fs::exists(one, failed);
             one = one.parent_path()) {
            made_.push_back(one);
        }
        fs::create_directories(folder, failed);
        return failed ? Result<void>(Error{
                            fmt::format("cannot make `{}`: {}", folder.string(), failed.message())})
                      : Result<void>();
    }
    void keep() { made_.clear(); }

  private:
    std::vector<fs::path> made_;  // the innermost first
};

// Files of a test that was there before, and had more of them.
void remove_others(const fs::path& folder, const std::vector<FileParts>& files) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        bool is_written = std::any_of(files.begin(), files.end(), [&](const FileParts& one) {
            return fs::path(one.path).filename() == entry.path().filename();
        });
        if (entry.path().extension() == ".pb" && !is_written) {
            fs::remove(entry.path(), failed);
        }
    }
}

}  // namespace

Result<std::string> write_testcase(
    const std::string& folder, const ir::Model& model,
    std::span<const std::pair<std::string_view, eval::RuntimeValue>> inputs,
    std::span<const eval::RuntimeValue> outputs) {
    fs::path data = fs::path(folder) / "test_data_set_0";
    SDX_TRY(check_folder(folder));
    std::vector<std::pair<std::string, std::string>> contents;
    SDX_ASSIGN(std::string bytes, proto::write_model(model));
    contents.emplace_back((fs::path(folder) / "model.onnx").string(), std::move(bytes));
    size_t count = 0;
    for (const ir::Value* input : model.graph->inputs) {
        auto given = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const auto& one) { return one.first == input->name; });
        if (given == inputs.end()) {
            break;  // an input with a default, which the tests leave out at the end
        }
        SDX_ASSIGN(std::string one, bytes_of(input->name, given->second));
        contents.emplace_back((data / fmt::format("input_{}.pb", count++)).string(),
                              std::move(one));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        SDX_ASSIGN(std::string one, bytes_of(model.graph->outputs[i]->name, outputs[i]));
        contents.emplace_back((data / fmt::format("output_{}.pb", i)).string(), std::move(one));
    }
    NewFolders folders;
    SDX_TRY(folders.make(data));
    std::vector<std::string_view> views;
    for (const auto& [path, one] : contents) {
        views.emplace_back(one);
    }
    std::vector<FileParts> files;
    for (size_t i = 0; i < contents.size(); ++i) {
        files.push_back({contents[i].first, std::span(&views[i], 1)});
    }
    SDX_TRY(write_files(files));
    folders.keep();
    remove_others(data, files);
    return fmt::format("{}: {} input{}, {} output{}\n", folder, count, count == 1 ? "" : "s",
                       outputs.size(), outputs.size() == 1 ? "" : "s");
}

}  // namespace sardonyx::cli
