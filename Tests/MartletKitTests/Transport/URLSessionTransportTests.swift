import Foundation
import PushTesting
import Testing

@testable import MartletKit

@Suite("The transport with URLSession", .timeLimit(.patience)) struct URLSessionTransportTests {
    private static func send(
        _ pieces: [ByteServer.Piece],
        deadline: Duration = .patience,
        maximum: Int = 1000
    ) async throws -> (response: TransportResponse, paths: [String]) {
        let server = try ByteServer { _ in pieces }
        defer { server.stop() }
        let request = TransportRequest(
            method: "GET",
            url: try #require(URL(string: server.url("/a"))),
            headers: ["authorization": "Bearer mk_public_x"],
            deadline: deadline,
            maximumResponse: maximum
        )
        return (try await URLSessionTransport().send(request), server.paths)
    }

    private static func text(_ text: String) -> ByteServer.Piece {
        .bytes(Data(text.replacing("\n", with: "\r\n").utf8))
    }

    @Test("A response has its status, its header in lower case and its body")
    func response() async throws {
        let head = "HTTP/1.1 429 Too Many Requests\nRetry-After: 7\nContent-Length: 2\nConnection: close\n\n{}"
        let response = try await Self.send([Self.text(head)]).response
        #expect(response.status == 429 && response.headers["retry-after"] == "7" && response.body == Data("{}".utf8))
    }

    @Test("A redirection is not followed, so that the key stays with its host")
    func redirection() async throws {
        let head = "HTTP/1.1 302 Found\nLocation: /elsewhere\nContent-Length: 0\nConnection: close\n\n"
        let (response, paths) = try await Self.send([Self.text(head)])
        #expect(response.status == 302 && paths == ["/a"])
    }

    @Test("A response that is longer than allowed is cut off")
    func length() async throws {
        let head = Self.text("HTTP/1.1 200 OK\nConnection: close\n\n")
        await #expect(throws: TransportError.responseTooLarge) {
            try await Self.send([head, .bytes(Data(count: 4_000_000)), .silence])
        }
    }

    @Test("A server that says nothing ends with the deadline", arguments: [true, false])
    func deadline(hasHead: Bool) async throws {
        let head = Self.text("HTTP/1.1 200 OK\nContent-Length: 10\n\n{")
        await #expect(throws: TransportError.deadlineExceeded) {
            try await Self.send(hasHead ? [head, .silence] : [.silence], deadline: .milliseconds(300))
        }
    }

    @Test("A response that is none of HTTP is an error")
    func noHTTP() async throws {
        // Foundation for Linux misses the end of such a response now and then: it is an error at the deadline then.
        await #expect(throws: (any Error).self) {
            try await Self.send([.bytes(Data(repeating: 0xFF, count: 100))], deadline: .seconds(5))
        }
    }

    @Test("Requests of one transport at the same time each get their own response")
    func together() async throws {
        let server = try ByteServer { path in
            [
                .bytes(
                    Data(
                        "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\nConnection: close\r\n\r\n\(path)".utf8
                    )
                )
            ]
        }
        defer { server.stop() }
        let transport = URLSessionTransport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let url = try #require(URL(string: server.url("/\(number)")))
                group.addTask {
                    let request = TransportRequest(method: "GET", url: url, deadline: .patience)
                    let response = try await transport.send(request)
                    #expect(String(decoding: response.body, as: UTF8.self) == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A caller that goes away ends the request")
    func cancellation() async throws {
        let task = Task { try await Self.send([.silence]) }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }
}
