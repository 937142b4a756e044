#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/descriptor.h"
#include "base/screenful.h"
#include "cli/commands.h"
#include "diagnostics/glyphs.h"
#include "diagnostics/render.h"

namespace sardonyx::cli {
namespace {

// The process has one terminal; what --color said and whether output was lost belong to it.
Color g_color = Color::kAuto;
int g_output_error = 0;

void write_all(int file, std::string_view text) {
    if (!write_bytes(file, text)) {
        bool is_lost = file == STDOUT_FILENO && errno != EPIPE;
        g_output_error = is_lost ? errno : g_output_error;
    }
}

// To standard error, from where nothing may be allocated or locked.
void write_now(std::string_view text) {
    [[maybe_unused]] ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
}

bool use_color(int file) {
    if (g_color != Color::kAuto) {
        return g_color == Color::kAlways;
    }
    const char* refused = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return ::isatty(file) != 0 && (refused == nullptr || *refused == '\0') &&
           (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

std::string render(int file, const diagnostics::Sources& sources,
                   const diagnostics::Diagnostics& diagnostics) {
    diagnostics::TerminalOptions options;
    options.color = use_color(file);
    winsize size{};
    if (::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        options.width = size.ws_col;
    }
    return diagnostics::render_terminal(sources, diagnostics, options);
}

}  // namespace

void ignore_closed_pipes() {
    std::signal(SIGPIPE, SIG_IGN);
}

void end_on_interrupt() {
    struct sigaction before {};
    // Ignored: started in the background.
    if (::sigaction(SIGINT, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
        struct sigaction action {};
        action.sa_handler = [](int) {
            // Every result is written to a file without a name first, so that nothing is left.
            write_now(::isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "");
            ::_exit(kInterrupted);
        };
        ::sigaction(SIGINT, &action, nullptr);
    }
}

void ignore_interrupts() {
    std::signal(SIGINT, SIG_IGN);
}

void end_without_memory() {
    // Any thread may be the one that asks for too much.
    std::set_new_handler([] {
        write_now("error: out of memory\n");
        ::_exit(kFailure);
    });
}

void set_color(Color color) {
    g_color = color;
}

void print(std::string_view text) {
    write_all(STDOUT_FILENO, text);
}

void print_note(std::string_view text) {
    write_all(STDERR_FILENO, text);
}

void print_error(std::string_view message) {
    std::string_view word = use_color(STDERR_FILENO) ? "\x1b[1;31merror\x1b[0m" : "error";
    write_all(STDERR_FILENO,
              fmt::format("{}: {}\n", word, diagnostics::visible(screenful(message))));
}

void print_findings(const diagnostics::Sources& sources,
                    const diagnostics::Diagnostics& diagnostics) {
    if (!diagnostics.items().empty()) {
        write_all(STDERR_FILENO, render(STDERR_FILENO, sources, diagnostics));
    }
}

std::string render_findings(const diagnostics::Sources& sources,
                            const diagnostics::Diagnostics& diagnostics) {
    return render(STDOUT_FILENO, sources, diagnostics);
}

bool has_lost_output() {
    return g_output_error != 0;
}

int finish(int status) {
    if (!has_lost_output()) {
        return status;
    }
    print_error(fmt::format("cannot write to standard output: {}", std::strerror(g_output_error)));
    return std::max(status, kFailure);
}

}  // namespace sardonyx::cli
