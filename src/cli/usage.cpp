#include "cli/usage.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"

namespace sardonyx::cli {

namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
    std::string_view near =
        nearest(word, std::vector<std::string_view>(names.begin(), names.end()));
    return near.empty() ? "" : fmt::format("; did you mean `{}`?", near);
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
        names.push_back(command->get_name());
    }
    return names;
}

Answer unknown_words(const CLI::App* command) {
    std::vector<std::string> left = command->remaining();
    auto found = std::find_if(left.begin(), left.end(), is_option);
    std::string word = found != left.end() ? *found : left.empty() ? std::string() : left[0];
    word = word.substr(0, word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos);
    if (!is_option(word)) {
        return usage_error(command, fmt::format("unexpected argument `{}`", word));
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return usage_error(command,
                       fmt::format("there is no option `{}`{}", word, did_you_mean(word, names)));
}

// The first argument or option that has to be given and is not.
const CLI::Option* missing_option(const CLI::App* command) {
    for (const CLI::Option* option : command->get_options()) {
        if (option->get_required() && option->count() == 0) {
            return option;
        }
    }
    return nullptr;
}

std::string words_of_missing(const CLI::Option& option) {
    if (option.get_positional()) {
        return fmt::format("missing argument: {}", option.get_type_name());
    }
    return fmt::format("missing option: {} {}", option.get_name(), option.get_type_name());
}

}  // namespace

bool is_option(std::string_view word) {
    return word.size() > 1 && word[0] == '-';
}

Answer usage_error(const CLI::App* command, std::string_view message) {
    bool is_whole = command == nullptr || command->get_parent() == nullptr;
    std::string path = is_whole ? "" : command->get_name() + " ";
    return {fmt::format("{}; see `sardonyx {}--help`", message, path), kUsage};
}

Answer unknown_command(const CLI::App& app, std::string_view word) {
    return usage_error(nullptr, fmt::format("there is no command `{}`{}", word,
                                            did_you_mean(word, command_names(app))));
}

Answer parse_failure(const CLI::App& app, const CLI::ParseError& error) {
    std::vector<CLI::App*> chosen = app.get_subcommands();
    const CLI::App* command = chosen.empty() ? &app : chosen[0];
    std::vector<std::string> left = command->remaining();
    // A misspelt option comes before what is missing for that reason.
    bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                    std::any_of(left.begin(), left.end(), is_option);
    if (is_extra) {
        return unknown_words(command);
    }
    if (chosen.empty()) {
        return usage_error(
            nullptr, fmt::format("a command is needed: {}", fmt::join(command_names(app), ", ")));
    }
    const CLI::Option* missing = missing_option(command);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && missing != nullptr) {
        return usage_error(command, words_of_missing(*missing));
    }
    std::string message = error.what();
    if (message.rfind(command->get_name() + ": ", 0) == 0) {
        message = message.substr(command->get_name().size() + 2);
    }
    return usage_error(command, message);
}

}  // namespace sardonyx::cli
