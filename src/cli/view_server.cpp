// HTTP 1.1 (RFC 9112), as much as one page needs: GET and HEAD, one request for each connection,
// one connection at a time, each with little time.
#include "cli/view_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/descriptor.h"
#include "cli/terminal.h"

namespace sardonyx::cli {
namespace {

constexpr size_t kMaxRequest = size_t{16} << 10U;
constexpr std::chrono::seconds kMaxTime{10};

using Clock = std::chrono::steady_clock;

bool wait_for(int handle, short what, Clock::time_point end) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd one{handle, what, 0};
    return left > 0 && ::poll(&one, 1, static_cast<int>(left)) > 0;
}

// The head of a request; empty: it never came.
std::string read_head(int handle, Clock::time_point end) {
    std::string head;
    std::array<char, 4096> bytes;
    while (head.size() < kMaxRequest && wait_for(handle, POLLIN, end)) {
        ssize_t count = ::recv(handle, bytes.data(), bytes.size(), 0);
        if (count <= 0) {
            return {};
        }
        head.append(bytes.data(), static_cast<size_t>(count));
        if (size_t past = head.find("\r\n\r\n"); past != std::string::npos) {
            head.resize(past + 2);
            return head;
        }
    }
    return {};
}

void send_all(int handle, std::string_view bytes, Clock::time_point end) {
    while (!bytes.empty() && wait_for(handle, POLLOUT, end)) {
        ssize_t count = ::send(handle, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN && errno != EINTR) {
            return;
        }
        bytes.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
    }
}

// The value of a header; names are the same in any case.
std::string_view header(std::string_view head, std::string_view name) {
    for (size_t at = head.find("\r\n"); at != std::string_view::npos && at + 2 < head.size();
         at = head.find("\r\n", at + 2)) {
        std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
        bool is_it = line.size() > name.size() && line[name.size()] == ':';
        for (size_t i = 0; is_it && i < name.size(); ++i) {
            is_it = (line[i] | 0x20) == name[i];
        }
        if (is_it) {
            line.remove_prefix(name.size() + 1);
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            return line;
        }
    }
    return {};
}

struct Site {
    std::string host;  // 127.0.0.1:1234
    std::string path;  // /secret/
};

std::string answer(std::string_view status, std::string_view type, std::string_view body,
                   bool has_body) {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nX-Frame-Options: SAMEORIGIN\r\n"
        "Connection: close\r\n\r\n{}",
        status, type, body.size(), has_body ? body : std::string_view());
}

std::string reply(std::string_view head, const Site& site,
                  const std::function<Result<std::string>()>& page) {
    std::string_view line = head.substr(0, head.find("\r\n"));
    bool is_head = line.rfind("HEAD ", 0) == 0;
    if (!is_head && line.rfind("GET ", 0) != 0) {
        return answer("405 Method Not Allowed", "text/plain", "GET alone\n", true);
    }
    line.remove_prefix(line.find(' ') + 1);
    std::string_view path = line.substr(0, line.find(' '));
    // Another host is a name of somebody else that leads here.
    if (header(head, "host") != site.host || path.substr(0, path.find('?')) != site.path) {
        return answer("404 Not Found", "text/plain", "nothing here\n", !is_head);
    }
    Result<std::string> body = page();
    return body.ok() ? answer("200 OK", "text/html", *body, !is_head)
                     : answer("500 Internal Server Error", "text/plain",
                              body.error().message + "\n", !is_head);
}

std::string secret() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

// Of the port, when it is bound.
Result<uint16_t> listen_at(int handle, uint16_t port) {
    int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* place = reinterpret_cast<sockaddr*>(&address);
    ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool is_bound = handle >= 0 && ::bind(handle, place, size) == 0 && ::listen(handle, 16) == 0 &&
                    ::getsockname(handle, place, &size) == 0;
    if (!is_bound) {
        return Error{
            fmt::format("cannot listen at port {} of 127.0.0.1: {}", port, std::strerror(errno))};
    }
    return ntohs(address.sin_port);
}

}  // namespace

Result<void> serve_page(const std::function<Result<std::string>()>& page, uint16_t port) {
    Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    Result<uint16_t> bound = listen_at(listener.get(), port);
    SDX_TRY(bound);
    Site site{fmt::format("127.0.0.1:{}", *bound), "/" + secret() + "/"};
    print(fmt::format("http://{}{}\n", site.host, site.path));
    print_note("Ctrl-C ends it\n");
    std::fflush(stdout);
    while (true) {
        Descriptor client(::accept(listener.get(), nullptr, nullptr));
        if (client.get() < 0) {
            if (errno == EINTR || errno == ECONNABORTED) {
                continue;
            }
            return Error{fmt::format("cannot accept a connection: {}", std::strerror(errno))};
        }
        Clock::time_point end = Clock::now() + kMaxTime;
        if (std::string head = read_head(client.get(), end); !head.empty()) {
            std::string text = reply(head, site, page);
            send_all(client.get(), text, Clock::now() + kMaxTime);
        }
    }
}

}  // namespace sardonyx::cli
