import NIOCore
import PushTypes
import PushWire
import Testing

/// CONNECT and its answers (RFC 9110 section 9.3.6).
@Suite struct ProxyTunnelStateMachineTests {
    private typealias Result = ProxyTunnelStateMachine.Result

    @Test func theRequestNamesTheTargetAndTheUser() {
        var proxy = ProxyEndpoint(host: "proxy", port: 3128)
        let plain = ProxyTunnelStateMachine.request(to: "api.push.apple.com", port: 443, through: proxy)
        let target = "api.push.apple.com:443"
        #expect(String(buffer: plain) == "CONNECT \(target) HTTP/1.1\r\nhost: \(target)\r\n\r\n")
        (proxy.user, proxy.password) = ("push", "se:cret")
        let full = ProxyTunnelStateMachine.request(to: "api.push.apple.com", port: 443, through: proxy)
        #expect(String(buffer: full).hasSuffix("\r\nproxy-authorization: Basic cHVzaDpzZTpjcmV0\r\n\r\n"))
    }

    @Test func aTunnelOpensWhereverTheAnswerIsCut() {
        let head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 Connection established\r\nvia: x\r\n\r\n"
        let bytes = Array(head.utf8)
        for cut in 0..<bytes.count {
            var machine = ProxyTunnelStateMachine()
            #expect(machine.receive(ByteBuffer(bytes: bytes.prefix(cut))) == .incomplete)
            let rest = ByteBuffer(bytes: bytes.dropFirst(cut) + Array("early".utf8))
            #expect(machine.receive(rest) == .open(ByteBuffer(string: "early")))
        }
        var machine = ProxyTunnelStateMachine()
        for byte in bytes.dropLast() { #expect(machine.receive(ByteBuffer(bytes: [byte])) == .incomplete) }
        #expect(machine.receive(ByteBuffer(string: "\n")) == .open(ByteBuffer()))
    }

    @Test(arguments: [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", ProxyFailure.Cause.forbidden),
        ("HTTP/1.1 407 Who?\nx: y\n\n", .unauthorized(status: 407)),
        ("HTTP/1.0 401 No\n\n", .unauthorized(status: 401)),
        ("HTTP/1.1 503 Service Unavailable\r\n\r\npage", .rejected(status: 503, phrase: "Service Unavailable")),
        ("HTTP/1.1 404\r\n\r\n", .rejected(status: 404, phrase: "")),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .rejected(status: 101, phrase: "Switching Protocols")),
        ("HTTP/1.1 500 \u{1b}[31mred\u{7}\r\n\r\n", .rejected(status: 500, phrase: "[31mred")),
        ("HTTP/1.1 20 OK\r\n\r\n", .notHTTP), ("HTTP/1.1 999 OK\r\n\r\n", .notHTTP),
        ("HTTP/1.1 +20 OK\r\n\r\n", .notHTTP),
        ("HTTP/1.1200 OK\r\n\r\n", .notHTTP), ("HTTP/1.1\r\n\r\n", .notHTTP), ("HTTP/2.0 200 OK\r\n\r\n", .notHTTP),
        ("\r\n\r\n", .notHTTP), ("SSH-2.0-OpenSSH", .notHTTP), ("\u{15}\u{3}\u{1}", .notHTTP), ("H2", .notHTTP),
    ])
    func everyOtherAnswerHasItsCause(answer: String, cause: ProxyFailure.Cause) {
        var machine = ProxyTunnelStateMachine()
        #expect(machine.receive(ByteBuffer(string: answer)) == .failed(cause))
    }

    @Test(arguments: ["x: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "x"])
    func anEndlessAnswerHasALimit(part: String) {
        var machine = ProxyTunnelStateMachine()
        var result = machine.receive(ByteBuffer(string: "HTTP/1.1 \(part.hasPrefix("H") ? 100 : 200) OK\r\n"))
        if part.hasPrefix("H") { result = machine.receive(ByteBuffer(string: "\r\n")) }
        var length = 0
        while result == .incomplete, length <= 2 * ProxyTunnelStateMachine.maximumHead {
            result = machine.receive(ByteBuffer(string: part))
            length += part.utf8.count
        }
        #expect(result == .failed(.endless))
        #expect(length <= ProxyTunnelStateMachine.maximumHead + part.utf8.count)
    }

    @Test func aLongHeadInOnePieceIsNoTunnelEither() {
        let long = String(repeating: "x", count: ProxyTunnelStateMachine.maximumHead)
        var machine = ProxyTunnelStateMachine()
        #expect(machine.receive(ByteBuffer(string: "HTTP/1.1 200 OK\r\nx: \(long)\r\n\r\n")) == .failed(.endless))
        // What follows the head is not counted: it is the tunnel's.
        var open = ProxyTunnelStateMachine()
        #expect(open.receive(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n\(long)")) == .open(ByteBuffer(string: long)))
    }

    @Test func randomBytesNeverOpenATunnel() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let garbage = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var machine = ProxyTunnelStateMachine()
            if case .open = machine.receive(ByteBuffer(bytes: garbage)) { Issue.record("a tunnel of \(garbage)") }
            var begun = ProxyTunnelStateMachine()
            _ = begun.receive(ByteBuffer(string: "HTTP/1."))
            if case .open = begun.receive(ByteBuffer(bytes: garbage)) { Issue.record("a tunnel of \(garbage)") }
        }
    }

    @Test func descriptionsNameTheProxyAndWhatToChange() {
        var proxy = ProxyEndpoint(host: "proxy.example", port: 3128)
        func text(_ cause: ProxyFailure.Cause) -> String {
            ProxyFailure(cause, proxy: proxy, host: "api.push.apple.com", port: 443).description
        }
        #expect(text(.unauthorized(status: 407)).contains("proxy.example:3128 wants a user and a password"))
        #expect(text(.forbidden).contains("does not allow api.push.apple.com:443"))
        #expect(text(.rejected(status: 503, phrase: "No")).hasSuffix("api.push.apple.com:443: 503 No"))
        (proxy.user, proxy.password) = ("anna", "hunter2")
        #expect(text(.unauthorized(status: 407)).contains("does not accept the user or the password"))
        for cause in [
            ProxyFailure.Cause.unauthorized(status: 407), .forbidden, .notHTTP, .endless, .timeout, .closed, .needsName,
        ] {
            #expect(!text(cause).contains("hunter2") && !text(cause).contains("anna"))
            #expect(!text(cause).contains("\n"))
        }
        var dumped = "\(proxy) \(String(reflecting: proxy)) \([proxy])"
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test func onlyFaultsOfSettingsLast() {
        func isLasting(_ cause: ProxyFailure.Cause) -> Bool {
            ProxyFailure(cause, proxy: ProxyEndpoint(host: "p", port: 1), host: "h", port: 2).isLasting
        }
        for cause in [ProxyFailure.Cause.unauthorized(status: 407), .forbidden, .notHTTP, .needsName] {
            #expect(isLasting(cause))
        }
        for cause in [ProxyFailure.Cause.timeout, .closed, .unreachable("x")] { #expect(!isLasting(cause)) }
        for status in [400, 404, 405, 501] { #expect(isLasting(.rejected(status: status, phrase: ""))) }
        for status in [408, 429, 500, 502, 503, 504] { #expect(!isLasting(.rejected(status: status, phrase: ""))) }
    }
}
