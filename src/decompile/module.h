// What the scripts of one text share: imports, opsets, names of functions, the file of weights.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decompile/decompile.h"
#include "decompile/names.h"
#include "decompile/text.h"

namespace sardonyx::decompile {

// Tensors of more elements are stored, where there is a file for them.
inline constexpr int64_t kMostLiterals = 16;

class Module {
  public:
    Module(const ir::Model& model, const Options& options);

    const ir::Model& model() const { return model_; }
    const Names& names() const { return names_; }

    bool annotates_results() const { return options_.annotates_results; }
    bool annotates_bodies() const { return options_.annotates_bodies; }
    bool has_statements() const { return options_.control_flow == ControlFlow::kStatements; }

    // The name of an opset of the model or of a named function; it is imported.
    std::string opset(std::string_view domain, int64_t version);
    // The name of a function's script.
    const std::string& function_name(const ir::Function& function) const {
        return functions_.at(&function);
    }
    void name_function(const ir::Function& function);
    // The version of the domain that a function is of.
    int64_t version_of(const ir::Function& function) const;
    // Whether all scripts mean one opset of ai.onnx.
    bool has_one_opset() const { return has_one_opset_; }
    std::string name_entry(std::string_view hint) {
        return names_.fresh(hint, "main", 2 * kMostLetters);
    }

    // `import module` and `from module import name`.
    void import(std::string_view module) { modules_.emplace(module); }
    void import_from(std::string_view module, std::string_view name) {
        names_from_[std::string(module)].emplace(name);
    }

    // Whether an initializer of the main graph, or any other tensor, is in the file of weights.
    bool is_storable(const Tensor& tensor, const ir::Value* initializer) const;
    // `weights["..."]`; `hint` becomes the name of a tensor that is no initializer.
    Result<Expression> stored(const Tensor& tensor, const ir::Value* initializer,
                              std::string_view hint);
    // A tensor of which nobody needs to know where it stands: in the file, or as an array.
    Result<Expression> array(const Tensor& tensor, const ir::Value* initializer,
                             std::string_view hint);
    // It as a call of `make_tensor`.
    Result<Expression> made_tensor(const Tensor& tensor);
    // The annotation of a type; nothing: the language has none.
    std::optional<Expression> annotation(const Type& type);

    // Everything before the first script.
    Result<std::string> head();
    std::vector<std::pair<std::string, Tensor>> take_weights() { return std::move(weights_); }

  private:
    struct Opset {
        std::string alias;
        bool is_imported = false;
    };
    void name_opset(std::string_view domain, int64_t version);
    static void append_import_list(std::string& text, const std::string& module, Expression list);
    static void append_import(std::string& text, const std::string& module,
                              const std::set<std::string>& names);

    const ir::Model& model_;
    const Options& options_;
    Names names_;
    std::set<std::string> modules_;
    std::map<std::string, std::set<std::string>> names_from_;
    std::map<std::pair<std::string, int64_t>, Opset> opsets_;
    int standard_opsets_ = 0;
    bool has_one_opset_ = true;
    std::vector<std::pair<std::string, Expression>> assignments_;
    std::unordered_map<const ir::Function*, std::string> functions_;
    std::vector<std::pair<std::string, Tensor>> weights_;
    std::unordered_map<std::string, int> weight_names_;  // with the last suffix
    std::unordered_map<const ir::Value*, std::string> stored_;
    bool loads_weights_ = false;
};

}  // namespace sardonyx::decompile
