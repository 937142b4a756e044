#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "diagnostics/pages.h"

namespace sardonyx::cli {
namespace {

// Of options that take words of a list.
struct ChoiceRow {
    std::string_view option;  // or the value of an argument
    std::vector<std::string> choices;
};

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const std::string& word : words) {
        text += text.empty() ? word : std::string(between) + word;
    }
    return text;
}

std::string all_commands(const std::vector<CommandWords>& commands) {
    std::vector<std::string> names;
    for (const CommandWords& command : commands) {
        names.push_back(command.name);
    }
    return joined(names, " ");
}

// In single quotes, as sh reads them.
std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (char c : text) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

// --- bash ----------------------------------------------------------------------------------------

std::string bash_script(const std::vector<CommandWords>& commands) {
    std::string options, choices;
    for (const CommandWords& command : commands) {
        std::string names, positional;
        for (const OptionWords& option : command.options) {
            names += (names.empty() || option.names.empty() ? "" : " ") + joined(option.names, " ");
            if (option.names.empty()) {
                positional += joined(option.choices, " ");
            } else if (!option.choices.empty()) {
                choices += fmt::format("        {}/{}) words={} ;;\n", command.name,
                                       joined(option.names, fmt::format("|{}/", command.name)),
                                       shell_quoted(joined(option.choices, " ")));
            } else if (!option.value.empty()) {
                choices += fmt::format("        {}/{}) files=1 ;;\n", command.name,
                                       joined(option.names, fmt::format("|{}/", command.name)));
            }
        }
        options += fmt::format("        {}) options={} arguments={} ;;\n", command.name,
                               shell_quoted(names), shell_quoted(positional));
    }
    return fmt::format(R"sh(# bash completion for sardonyx: eval "$(sardonyx completion bash)"
_sardonyx() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    local command= options= arguments= words= files= one
    for one in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ $one != -* ]] && command=$one && break
    done
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W {} -- "$word"))
        return
    fi
    case $command in
{}    esac
    case $command/$before in
{}    esac
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    elif [[ -z $files && $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ -n $arguments ]]; then
        COMPREPLY=($(compgen -W "$arguments" -- "$word"))
    else
        compopt -o filenames 2> /dev/null
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -F _sardonyx sardonyx
)sh",
                       shell_quoted(all_commands(commands) + " --help --version"), options,
                       choices);
}

// --- zsh -----------------------------------------------------------------------------------------

// Of the text in an entry of _arguments.
std::string zsh_text(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result;
}

std::string zsh_action(const OptionWords& option) {
    return option.choices.empty() ? std::string("_files")
                                  : fmt::format("({})", joined(option.choices, " "));
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
    std::string listed, cases;
    for (const CommandWords& command : commands) {
        listed +=
            fmt::format("        {}\n",
                        shell_quoted(fmt::format("{}:{}", command.name, zsh_text(command.about))));
        std::string entries;
        for (const OptionWords& option : command.options) {
            if (option.names.empty()) {
                entries += fmt::format(" \\\n            {}",
                                       shell_quoted(fmt::format("*:{}:{}", zsh_text(option.value),
                                                                zsh_action(option))));
            }
            for (const std::string& name : option.names) {
                std::string value =
                    option.value.empty()
                        ? std::string()
                        : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
                entries += fmt::format(
                    " \\\n            {}",
                    shell_quoted(fmt::format("*{}[{}]{}", name, zsh_text(option.about), value)));
            }
        }
        cases += fmt::format("        {}) _arguments{} ;;\n", command.name, entries);
    }
    return fmt::format(R"sh(#compdef sardonyx
# zsh completion for sardonyx: sardonyx completion zsh > a file `_sardonyx` in a folder of $fpath
_sardonyx() {{
    local -a commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
if [[ $funcstack[1] == _sardonyx ]]; then
    _sardonyx "$@"
else
    compdef _sardonyx sardonyx
fi
)sh",
                       listed, cases);
}

// --- fish ----------------------------------------------------------------------------------------

std::string fish_script(const std::vector<CommandWords>& commands) {
    std::string text =
        "# fish completion for sardonyx: sardonyx completion fish | source\n"
        "complete -c sardonyx -n __fish_use_subcommand -f\n";
    for (const CommandWords& command : commands) {
        text += fmt::format("complete -c sardonyx -n __fish_use_subcommand -f -a {} -d {}\n",
                            command.name, shell_quoted(command.about));
        std::string seen = shell_quoted("__fish_seen_subcommand_from " + command.name);
        for (const OptionWords& option : command.options) {
            std::string words;
            for (const std::string& name : option.names) {
                bool is_long = name.rfind("--", 0) == 0;
                words += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
            }
            if (!option.choices.empty()) {
                words += fmt::format(" -x -a {}", shell_quoted(joined(option.choices, " ")));
            } else if (!option.value.empty() && !option.names.empty()) {
                words += " -r";
            }
            if (!words.empty()) {
                text += fmt::format("complete -c sardonyx -n {}{} -d {}\n", seen, words,
                                    shell_quoted(option.about));
            }
        }
    }
    return text;
}

// --- The manual page -----------------------------------------------------------------------------

// As groff's man macros read it: backslashes, and dots and quotes that begin a line.
std::string roff(std::string_view text) {
    std::string result;
    bool is_start = true;
    for (char c : text) {
        if (is_start && (c == '.' || c == '\'')) {
            result += "\\&";
        }
        result += c == '\\'  ? std::string("\\e")
                  : c == '-' ? std::string("\\-")
                             : std::string(1, c);
        is_start = c == '\n';
    }
    return result;
}

std::string roff_option(const OptionWords& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) {
        names.push_back("\\fB" + roff(name) + "\\fR");
    }
    std::string text = joined(names, ", ");
    if (!option.value.empty()) {
        text += fmt::format("{}\\fI{}\\fR", text.empty() ? "" : " ", roff(option.value));
    }
    return fmt::format(".TP\n{}\n{}\n", text, roff(option.about));
}

}  // namespace

void add_choices(CommandWords& command) {
    const ChoiceRow rows[] = {{"--color", {"auto", "always", "never"}},
                              {"--format", {"text", "json", "sarif"}},
                              {"--stage", {"tokens", "tree", "ir", "plan"}},
                              {"--state", {"outputs", "drop", "error"}},
                              {"SHELL", {"bash", "zsh", "fish", "man"}}};
    for (OptionWords& option : command.options) {
        for (const ChoiceRow& row : rows) {
            bool is_it = option.value == row.option ||
                         std::find(option.names.begin(), option.names.end(), row.option) !=
                             option.names.end();
            if (is_it) {
                option.choices = row.choices;
            }
        }
        if (option.value == "CODE") {
            for (const diagnostics::Page& page : diagnostics::pages()) {
                option.choices.emplace_back(page.code);
            }
        }
    }
}

std::string completion_script(std::string_view shell, const std::vector<CommandWords>& commands) {
    return shell == "bash"   ? bash_script(commands)
           : shell == "zsh"  ? zsh_script(commands)
           : shell == "fish" ? fish_script(commands)
                             : std::string();
}

std::string manual_page(std::string_view about, const std::vector<CommandWords>& commands) {
    std::string text = fmt::format(
        ".TH SARDONYX 1 \"\" \"sardonyx {}\" \"User Commands\"\n"
        ".SH NAME\nsardonyx \\- ONNX Script as a native toolchain\n"
        ".SH SYNOPSIS\n\\fBsardonyx\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
        ".SH DESCRIPTION\n{}\n",
        SDX_VERSION, roff(about));
    for (const CommandWords& command : commands) {
        std::string title = command.name;
        for (char& c : title) {
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        }
        text += fmt::format(".SH {}\n{}.\n", title, roff(command.about));
        for (const OptionWords& option : command.options) {
            text += roff_option(option);
        }
        if (!command.footer.empty()) {
            text += fmt::format(".PP\n.nf\n{}.fi\n", roff(command.footer));
        }
    }
    text +=
        ".SH FILES\n.TP\n\\fIpyproject.toml\\fR\n"
        "The section [tool.sardonyx] of the nearest one, here or in a folder above, sets "
        "select,\n"
        "ignore, exclude, opset, schemas and library-path. Options on the command line come "
        "first.\n"
        ".SH ENVIRONMENT\n.TP\n\\fBSARDONYX_PYTHON\\fR\nThe Python of \\fB\\-\\-python\\fR and "
        "of\n"
        "\\fBrun \\-\\-compare\\fR.\n.TP\n\\fBNO_COLOR\\fR\nNo colors on a terminal.\n"
        ".SH EXIT STATUS\n0: success. 1: findings, or a run that failed. 2: wrong usage. "
        "130: interrupted.\n";
    return text;
}

}  // namespace sardonyx::cli
