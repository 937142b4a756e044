// The check of many files at once: all scripts of each, and models. Scripts may be texts that are
// not on the disk yet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/check_memory.h"
#include "driver/find_files.h"
#include "elaborate/files/module.h"
#include "ops/schema_set.h"

namespace sardonyx::driver {

struct CheckRequest {
    std::vector<CheckedFile> files;
    std::vector<CheckedFile> at_hand;  // texts of scripts that are not checked, and may be imported
    std::vector<std::string> schemas;  // files with operators of other domains
    std::vector<std::string> select;   // the only codes to tell, errors aside; empty: all
    std::vector<std::string> ignore;   // codes not to tell
    int64_t opset = 0;                 // of ai.onnx, in place of what the scripts import; 0: theirs
    std::vector<std::string> library_path;  // folders of modules, beside those of the files
    bool wants_types = false;
    CheckMemory* memory = nullptr;  // of the one file, from check to check; null: none
};

struct Checked {
    std::unique_ptr<elaborate::Program> program;  // its findings are those of all files
    std::unique_ptr<ops::SchemaSet> schemas;
    std::vector<elaborate::FileModule*> modules;  // of the scripts among the files that can be read
    std::vector<diagnostics::Inlay> types;        // of their names, when wanted
};

Checked check(const CheckRequest& request);

}  // namespace sardonyx::driver
