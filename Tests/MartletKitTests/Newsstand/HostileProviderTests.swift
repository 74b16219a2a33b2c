import Foundation
import PushTesting
import Synchronization
import Testing

@testable import MartletKit

/// A provider that answers with what it should not. Every call is bounded and ends with an error of ``NewsstandError``.
@Suite("The newsstand against a hostile provider", .timeLimit(.patience)) struct HostileProviderTests {
    private static let hash = String(repeating: "a", count: 64)

    private static func newsstand(at url: String, _ transport: any DownloadTransport) throws -> Newsstand {
        let provider = try #require(URL(string: url))
        let configuration = try Martlet.Configuration(provider: provider, app: "com.example.MyApp", key: "mk_public_x")
        return Newsstand(configuration, transport: transport)
    }

    private static func scripted(_ answer: @escaping ScriptedTransport.Answer) throws -> (Newsstand, ScriptedTransport)
    {
        let transport = ScriptedTransport(answer)
        return (try Self.newsstand(at: "https://push.example.com", transport), transport)
    }

    private static func entry(_ number: Int) -> String {
        #"{"productId":"issue\#(number)","publication":"3F0E0000-0000-4000-8000-000000000001","title":"x","date":"2026-11-20"}"#
    }

    @Test("Pages without end are read up to the number of issues that is wanted")
    func endlessPages() async throws {
        let count = Mutex(0)
        let (newsstand, transport) = try Self.scripted { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return TransportResponse(
                status: 200,
                body: Data(#"{"issues":[\#(Self.entry(number))],"next":"again"}"#.utf8)
            )
        }
        let catalogue = try #require(try await newsstand.issues(account: nil, maximum: 1000, ifChangedFrom: nil))
        #expect(transport.requests.count == 10 && catalogue.issues.count == 10)
    }

    @Test("A text that is nested too deeply or too long is malformed, wherever it comes")
    func deepAndLong() async throws {
        let deep = #"{"issues":"# + String(repeating: "[", count: 100_000)
        let closed = deep + String(repeating: "]", count: 100_000) + "}"
        let long = #"{"issues":[],"next":"\#(String(repeating: "x", count: 256 * 1024))"}"#
        for text in [deep, closed, long] {
            let (newsstand, _) = try Self.scripted { _ in TransportResponse(status: 200, body: Data(text.utf8)) }
            let error = NewsstandError.malformed("the response has no JSON object")
            await #expect(throws: error) { try await newsstand.catalogue() }
            await #expect(throws: error) { try await newsstand.entitlements(to: ["a"]) }
            await #expect(throws: error) { try await newsstand.downloadGrant(for: "a", screenSize: "1x1") }
        }
    }

    @Test(
        "A time to wait that is none is left out, and a longer one than a day is a day",
        arguments: [
            ("31536000", Duration.seconds(86_400)), ("9223372036854775807", .seconds(86_400)), ("-5", .zero),
            ("99999999999999999999", nil), ("soon", nil),
        ] as [(String, Duration?)]
    )
    func retryAfter(text: String, delay: Duration?) async throws {
        let (newsstand, _) = try Self.scripted { _ in
            TransportResponse(status: 503, headers: ["retry-after": text])
        }
        await #expect(throws: NewsstandError.unavailable(reason: "status 503", retryAfter: delay)) {
            try await newsstand.catalogue()
        }
    }

    @Test("A grant for a file elsewhere in the system, or of an impossible size, is none")
    func badGrants() async throws {
        for (url, size) in [("file:///etc/passwd", "1"), ("data:,x", "1"), ("/x", "-1"), ("/x", "9223372036854775807")]
        {
            let (newsstand, _) = try Self.scripted { _ in
                let text = #"{"url":"\#(url)","size":\#(size),"sha256":"\#(Self.hash)"}"#
                return TransportResponse(status: 200, body: Data(text.utf8))
            }
            await #expect(throws: NewsstandError.malformed("the response has no address of a file"), "\(url), \(size)")
            {
                try await newsstand.downloadGrant(for: "a", screenSize: "1x1")
            }
        }
    }

    // MARK: - Over a network

    private static func bytes(_ text: String) -> ByteServer.Piece {
        .bytes(Data(text.replacing("\n", with: "\r\n").utf8))
    }

    @Test(
        "A download that is redirected stays where it is and leaves nothing",
        arguments: ["file:///etc/passwd", "/b"]
    )
    func redirection(location: String) async throws {
        let server = try ByteServer { _ in
            [Self.bytes("HTTP/1.1 302 Found\nLocation: \(location)\nContent-Length: 0\nConnection: close\n\n")]
        }
        defer { server.stop() }
        let newsstand = try Self.newsstand(at: server.url(""), URLSessionTransport())
        let base = try #require(URL(string: server.url("")))
        let members: [String: JSONValue] = ["url": "/a", "size": 5, "sha256": .string(Self.hash)]
        let file = try #require(PublishedFile(members, base: base))
        try await withTemporaryDirectory { folder in
            let place = URL(filePath: folder).appending(path: "issue")
            await #expect(throws: NewsstandError.unavailable(reason: "status 302", retryAfter: nil)) {
                try await newsstand.download(file, to: place)
            }
            #expect(!FileManager.default.fileExists(atPath: place.path))
        }
        #expect(server.paths == ["/a"])
    }

    @Test("A catalogue of 100 MB is cut off, and so is a body without end")
    func endlessBody() async throws {
        for head in ["Content-Length: 100000000\n", ""] {
            let server = try ByteServer { _ in
                let piece = ByteServer.Piece.bytes(Data(repeating: UInt8(ascii: " "), count: 1_000_000))
                return [Self.bytes("HTTP/1.1 200 OK\n\(head)Connection: close\n\n")]
                    + Array(repeating: piece, count: 100)
            }
            defer { server.stop() }
            let newsstand = try Self.newsstand(at: server.url(""), URLSessionTransport())
            let error = NewsstandError.unavailable(reason: "\(TransportError.responseTooLarge)", retryAfter: nil)
            await #expect(throws: error) { try await newsstand.catalogue() }
        }
    }

    @Test("A header without end is an error")
    func headerBomb() async throws {
        let server = try ByteServer { _ in
            let field = Data("x: \(String(repeating: "x", count: 10_000))\r\n".utf8)
            return [Self.bytes("HTTP/1.1 200 OK\n")] + Array(repeating: .bytes(field), count: 10_000)
        }
        defer { server.stop() }
        let newsstand = try Self.newsstand(at: server.url(""), URLSessionTransport())
        await #expect(throws: NewsstandError.self) { try await newsstand.catalogue() }
    }
}
