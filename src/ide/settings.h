// What a project says of all its files: [tool.sardonyx] of its pyproject.toml.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sardonyx::ide {

struct Settings {
    std::vector<std::string> schemas;  // files with operators of other domains
    std::vector<std::string> select;   // the only codes to tell, errors aside; empty: all
    std::vector<std::string> ignore;   // codes not to tell
    int64_t opset = 0;                 // of ai.onnx, in place of what the scripts import; 0: theirs
    std::vector<std::string> library_path;  // folders of modules, beside those of the files
};

// The settings of the server as a whole.
struct ServerSettings {
    Settings start;                         // of the folder where it has been started
    bool looks_around = false;              // files have the settings of their own folders
    std::vector<std::string> schemas;       // of the command line: they win over those of folders
    std::vector<std::string> library_path;  // the same
};

}  // namespace sardonyx::ide
