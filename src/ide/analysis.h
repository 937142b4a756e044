// What is known of a file while somebody writes it: the same check as `sardonyx check` makes, of
// the texts that the editor has.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/check.h"
#include "ide/settings.h"
#include "syntax/token.h"

namespace sardonyx::ide {

using Range = syntax::Range;  // of bytes

// The texts of all files that are open, by path.
using Texts = std::map<std::string, std::string>;

enum class Level : uint8_t { kError, kWarning, kNote };

struct Change {
    Range range;
    std::string text;
};

struct Related {
    std::string path;
    Range range;
    std::string message;
};

struct Finding {
    Range range;  // in the file's text
    Level level = Level::kError;
    std::string code;
    std::string message;  // with notes and help, a line each
    std::vector<Related> related;
    std::string repair;           // what the changes do; empty: there are none
    std::vector<Change> changes;  // in this file
    bool is_safe = false;         // the changes keep what the text means
};

// "FLOAT[N, 4]" of a name where it is bound.
struct KnownType {
    Range range;
    std::string text;
    bool is_assignment = false;  // and has no annotation: worth showing beside it
    uint32_t bound_from = 0;     // where the name means this: behind the assignment
};

// What one analysis of a file has found, for the next one after an edit.
using Memory = driver::CheckMemory;

class Analysis {
  public:
    // `memory` may be null.
    Analysis(const Texts& texts, const std::string& path, const Settings& settings,
             Memory* memory = nullptr);
    Analysis(const Analysis&) = delete;
    Analysis& operator=(const Analysis&) = delete;

    std::string_view text() const { return text_; }
    const std::vector<Finding>& findings() const { return findings_; }
    const std::vector<KnownType>& types() const { return types_; }  // in order
    // Null: the file cannot be read, or has nothing to do with scripts.
    elaborate::FileModule* module() const { return module_; }
    const diagnostics::Sources& sources() const { return checked_.program->sources; }
    const ops::SchemaSet* schemas() const { return checked_.schemas.get(); }

    // The opset that a name of the file stands for; nothing: it is none.
    std::optional<elaborate::OpsetObject> opset(std::string_view name) const;
    const ops::Schema* find_operator(std::string_view opset_name, std::string_view name) const;

  private:
    void take_findings();
    void take_types();

    std::string text_;
    driver::Checked checked_;
    elaborate::FileModule* module_ = nullptr;
    std::vector<Finding> findings_;
    std::vector<KnownType> types_;
};

}  // namespace sardonyx::ide
