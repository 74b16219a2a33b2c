import AppSimulator
import Foundation
import MartletKit
import PushTesting
import PushTypes
import Synchronization
import Testing

@Suite("The transport of the simulated app", .timeLimit(.patience)) struct HTTPClientTransportTests {
    /// Sends a request to a server with a behaviour, and returns the response with the requests that it got.
    private static func send(
        _ behaviour: TestProxy.Behaviour,
        deadline: Duration = .patience
    ) async throws -> (response: TransportResponse, requests: [String]) {
        let server = try await TestProxy.start(behaviour)
        let request = TransportRequest(
            method: "PUT",
            url: try #require(URL(string: "http://127.0.0.1:\(server.port)/a")),
            headers: ["authorization": "Bearer mk_public_x"],
            body: Data("{}".utf8),
            deadline: deadline,
            maximumResponse: 1000
        )
        let result = await Result { try await HTTPClientTransport().send(request) }
        let requests = server.requests
        await server.stop()
        return (try result.get(), requests)
    }

    private static func text(_ text: String) -> String { text.replacing("\n", with: "\r\n") }

    @Test("A response has its status, its header in lower case and its body")
    func response() async throws {
        let head = "HTTP/1.1 429 Too Many Requests\nRetry-After: 7\nContent-Length: 2\nConnection: close\n\n{}"
        let (response, requests) = try await Self.send(.answer(Self.text(head)))
        #expect(response.status == 429 && response.headers["retry-after"] == "7" && response.body == Data("{}".utf8))
        #expect(requests.first?.hasPrefix("PUT /a HTTP/1.1") == true)
        #expect(requests.first?.contains("authorization: Bearer mk_public_x") == true)
    }

    @Test("A redirection is not followed, so that the key stays with its host")
    func redirection() async throws {
        let head = "HTTP/1.1 302 Found\nLocation: /elsewhere\nContent-Length: 0\nConnection: close\n\n"
        let (response, requests) = try await Self.send(.answer(Self.text(head)))
        #expect(response.status == 302 && requests.count == 1)
    }

    @Test("A response that is longer than allowed is cut off")
    func length() async throws {
        let head = Self.text("HTTP/1.1 200 OK\nContent-Length: 1001\nConnection: close\n\n")
        await #expect(throws: TransportError.responseTooLarge) {
            try await Self.send(.answer(head + String(repeating: "x", count: 1001)))
        }
    }

    @Test(
        "A server that says nothing ends with the deadline",
        arguments: [TestProxy.Behaviour.silence, .answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")]
    )
    func deadline(behaviour: TestProxy.Behaviour) async throws {
        await #expect(throws: TransportError.deadlineExceeded) {
            try await Self.send(behaviour, deadline: .milliseconds(300))
        }
    }

    @Test("A server that is none of HTTP, goes away or is not there is an error in words")
    func failures() async throws {
        for behaviour in [TestProxy.Behaviour.answer("\u{1}\u{2}\r\n\r\n"), .close] {
            await #expect(throws: (any Error).self) { try await Self.send(behaviour) }
        }
        let port = try RefusingPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let error = await #expect(throws: (any Error).self) {
            try await HTTPClientTransport().send(TransportRequest(method: "GET", url: url, deadline: .patience))
        }
        #expect(error.map { "\($0)" } == "Connection refused")
    }

    @Test("A proxy tunnels to the host for its own credentials")
    func proxy() async throws {
        let server = try await TestProxy.start(.answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"))
        let proxy = try await TestProxy.start(.tunnelFor(credentials: "cHVzaDpzZWNyZXQ="))
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port, user: "push", password: "secret")
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/v1"))
        let request = TransportRequest(method: "GET", url: url, deadline: .patience)
        let response = try await HTTPClientTransport(proxy: endpoint).send(request)
        #expect(response.status == 200)
        #expect(try #require(proxy.requests.first).hasPrefix("CONNECT 127.0.0.1:\(server.port) HTTP/1.1"))
        #expect(try #require(server.requests.first).hasPrefix("GET /v1 HTTP/1.1"))
        #expect(server.requests.first?.lowercased().contains("proxy-authorization") == false)
        await proxy.stop()
        await server.stop()
    }

    @Test("A caller that goes away ends the request")
    func cancellation() async throws {
        let task = Task { try await Self.send(.silence) }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }

    @Test("A download hands on its head, then its body, also over connections that many share")
    func download() async throws {
        let body = String(repeating: "x", count: 100_000)
        let shared = SharedHTTPClient(connections: 2)
        for transport in [HTTPClientTransport(), HTTPClientTransport(sharing: shared)] {
            let server = try await TestProxy.start(
                .answer(Self.text("HTTP/1.1 206 Partial Content\nContent-Length: 100000\nConnection: close\n\n") + body)
            )
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/a"))
            let headers = ["range": "bytes=5-"]
            let request = TransportRequest(method: "GET", url: url, headers: headers, deadline: .patience)
            let parts = Mutex<[ResponsePart]>([])
            let result = await Result {
                try await transport.receive(request) { part in parts.withLock { $0.append(part) } }
            }
            #expect(server.requests.first?.contains("range: bytes=5-") == true)
            await server.stop()
            try result.get()
            let received = parts.withLock { $0 }
            guard case .head(let head)? = received.first else {
                Issue.record("there is no head")
                return
            }
            #expect(head.status == 206)
            let count = received.reduce(0) { sum, part in
                if case .body(let bytes) = part { sum + bytes.count } else { sum }
            }
            #expect(count == 100_000)
        }
        try await shared.close()
    }

    @Test("An error of who takes the parts ends the download and is its error")
    func refusedPart() async throws {
        let server = try await TestProxy.start(.answer(Self.text("HTTP/1.1 200 OK\nContent-Length: 9\n\n") + "123"))
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/a"))
        let request = TransportRequest(method: "GET", url: url, deadline: .patience)
        await #expect(throws: NewsstandError.noSpace) {
            try await HTTPClientTransport().receive(request) { part in
                if case .body = part { throw NewsstandError.noSpace }
            }
        }
        await server.stop()
    }

    /// Loads an attachment from a server with an answer.
    private static func attachment(
        _ head: String,
        _ body: String = "",
        policy: AttachmentPolicy = AttachmentPolicy(deadline: .patience, allowsLocalServers: true)
    ) async throws -> (error: AttachmentError?, files: [String], requests: Int) {
        let server = try await TestProxy.start(.answer(Self.text(head) + body))
        let payload = #"{"aps":{},"attachment":"http://127.0.0.1:\#(server.port)/a.gif"}"#
        let notification = try #require(ReceivedNotification(json: Data(payload.utf8)))
        let outcome = try await withTemporaryDirectory { folder in
            let loader = AttachmentLoader(
                folder: URL(filePath: folder),
                policy: policy,
                transport: HTTPClientTransport()
            )
            var failure: AttachmentError?
            do throws(AttachmentError) {
                _ = try await loader.attachment(of: notification)
            } catch {
                failure = error
            }
            return (failure, try FileManager.default.contentsOfDirectory(atPath: folder))
        }
        let requests = server.requests.count
        await server.stop()
        return (outcome.0, outcome.1, requests)
    }

    @Test("Attachments come over this transport too: redirects one by one, limits while they arrive, no file left")
    func attachments() async throws {
        let type = "Content-Type: image/gif\nConnection: close\n"
        let whole = try await Self.attachment("HTTP/1.1 200 OK\n\(type)Content-Length: 12\n\n", "GIF89a123456")
        #expect(whole.error == nil && whole.files.first?.hasSuffix(".gif") == true && whole.files.count == 1)
        let loop = try await Self.attachment(
            "HTTP/1.1 302 Found\nLocation: /b\nContent-Length: 0\nConnection: close\n\n"
        )
        #expect(loop.error == .tooManyRedirects && loop.requests == 4 && loop.files == [])
        var policy = AttachmentPolicy(maximumSize: 1000, deadline: .patience, allowsLocalServers: true)
        let head = "HTTP/1.1 200 OK\n\(type)\n"
        let long = try await Self.attachment(head, "GIF89a" + String(repeating: "x", count: 2000), policy: policy)
        #expect(long.error == .tooLarge && long.files == [])
        policy.deadline = .milliseconds(300)
        let slow = "HTTP/1.1 200 OK\nContent-Type: image/gif\nContent-Length: 900\n\n"
        let late = try await Self.attachment(slow, "GIF89a123456", policy: policy)
        #expect(late.error == .tooLate && late.files == [])
        let forged = try await Self.attachment("HTTP/1.1 200 OK\n\(type)Content-Length: 12\n\n", "<html>123456")
        #expect(forged.error == .typeMismatch && forged.files == [])
    }
}

extension Result where Failure == any Error {
    /// Keeps what a closure returns or throws.
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
