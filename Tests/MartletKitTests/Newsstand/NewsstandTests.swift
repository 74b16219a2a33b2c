import Crypto
import Foundation
import Synchronization
import Testing

@testable import MartletKit

@Suite("The client of the newsstand") struct NewsstandTests {
    private static let hash = String(repeating: "a", count: 64)

    private static func newsstand(
        _ answer: @escaping ScriptedTransport.Answer
    ) throws -> (newsstand: Newsstand, transport: ScriptedTransport) {
        let provider = try #require(URL(string: "https://push.example.com"))
        let configuration = try Martlet.Configuration(provider: provider, app: "com.example.MyApp", key: "mk_public_x")
        let transport = ScriptedTransport(answer)
        return (Newsstand(configuration, transport: transport), transport)
    }

    private static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> TransportResponse {
        TransportResponse(status: status, headers: headers, body: Data(text.utf8))
    }

    @Test("The catalogue is asked for with the account and the version that is known, and read in order")
    func catalogue() async throws {
        let (newsstand, transport) = try Self.newsstand { _ in
            Self.json(
                """
                {"issues":[{"productId":"issue7","publication":"3F0E0000-0000-4000-8000-000000000001","title":"Issue 7",
                "publicationName":"The Example","number":"7","date":"2026-11-20","access":"retail","publishedAtMs":1,
                "cover":{"url":"/v1/files/c?issue=1&expires=2","size":3,"sha256":"\(Self.hash)","contentType":"image/png"},
                "renditions":[{"screenSize":"1024x768","size":5,"sha256":"\(Self.hash)"},{"screenSize":1}]},
                {"productId":""},7],"next":"c2"}
                """,
                headers: ["etag": "\"4\""]
            )
        }
        let catalogue = try #require(
            try await newsstand.catalogue(account: "a b", limit: 5, after: "c1", ifChangedFrom: "\"3\"")
        )
        let request = try #require(transport.requests.first)
        #expect(
            request.url.absoluteString
                == "https://push.example.com/v1/apps/com.example.MyApp/catalogue?limit=5&account=a%20b&cursor=c1"
        )
        #expect(request.headers["if-none-match"] == "\"3\"" && request.headers["authorization"] == "Bearer mk_public_x")
        #expect(catalogue.entityTag == "\"4\"" && catalogue.next == "c2" && catalogue.issues.count == 1)
        let issue = try #require(catalogue.issues.first)
        #expect(issue.product == "issue7" && issue.number == "7" && !issue.isFree && issue.renditions.count == 1)
        #expect(issue.cover?.url.absoluteString == "https://push.example.com/v1/files/c?issue=1&expires=2")
    }

    @Test("A catalogue that has not changed is nothing; garbage and errors say what they are")
    func catalogueErrors() async throws {
        let (unchanged, _) = try Self.newsstand { _ in TransportResponse(status: 304) }
        #expect(try await unchanged.catalogue(ifChangedFrom: "\"3\"") == nil)
        let answers: [(TransportResponse, NewsstandError)] = [
            (Self.json("<html>"), .malformed("the response has no JSON object")),
            (Self.json("{}"), .malformed("the response has no issues")),
            (.error(404, "no_such_app"), .refused(code: "no_such_app", message: "no")),
            (TransportResponse(status: 304), .unavailable(reason: "status 304", retryAfter: nil)),
            (
                TransportResponse(status: 503, headers: ["retry-after": "7"]),
                .unavailable(reason: "status 503", retryAfter: .seconds(7))
            ),
        ]
        for (answer, error) in answers {
            let (newsstand, _) = try Self.newsstand { _ in answer }
            await #expect(throws: error) { try await newsstand.catalogue() }
        }
        let (offline, _) = try Self.newsstand { _ in throw ScriptedTransport.Offline() }
        await #expect(throws: NewsstandError.self) { try await offline.catalogue() }
    }

    @Test("The pages of a catalogue are followed to its end, or to the number of issues that is wanted")
    func pages() async throws {
        let (newsstand, transport) = try Self.newsstand { request in
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
            let number = items.first { $0.name == "cursor" }.flatMap { $0.value }.flatMap { Int($0) } ?? 0
            let next = number < 3 ? ",\"next\":\"\(number + 1)\"" : ""
            return Self.json(
                """
                {"issues":[{"productId":"issue\(number)","publication":"3F0E0000-0000-4000-8000-000000000001","title":"x",
                "date":"2026-11-20"}]\(next)}
                """,
                headers: ["etag": "\"tag \(number)\""]
            )
        }
        let all = try #require(try await newsstand.issues(account: nil, maximum: 1000, ifChangedFrom: "\"old\""))
        #expect(all.issues.map(\.product) == ["issue0", "issue1", "issue2", "issue3"])
        #expect(all.next == nil && all.entityTag == "\"tag 0\"")
        // The first page alone says whether anything has changed.
        #expect(transport.requests.map { $0.headers["if-none-match"] } == ["\"old\"", nil, nil, nil])
        let some = try #require(try await newsstand.issues(account: nil, maximum: 2, ifChangedFrom: nil))
        #expect(some.issues.count == 1 && some.next == "1")
    }

    @Test("Entitlements come with their grounds, their refusals and the time to ask again")
    func entitlements() async throws {
        let (newsstand, transport) = try Self.newsstand { _ in
            Self.json(
                """
                {"entitlements":[{"productId":"a","entitled":true,"by":"transaction","untilMs":2000},
                {"productId":"b","entitled":false,"reason":"not_entitled","message":"no"},
                {"productId":"c","entitled":false,"reason":"entitlement_unavailable","message":"down","retryAfterSeconds":60}]}
                """
            )
        }
        let proof = PurchaseProof(transactions: ["jws"], account: "me", authToken: "t")
        let entitlements = try await newsstand.entitlements(to: ["a", "b", "c"], proof: proof)
        #expect(
            entitlements.map(\.decision) == [
                .entitled(by: "transaction", until: Date(timeIntervalSince1970: 2)),
                .refused(code: "not_entitled", message: "no"),
                .unavailable(message: "down", retryAfter: .seconds(60)),
            ]
        )
        let body = try #require(transport.bodies("POST").first)
        #expect(body["transactions"] == .array(["jws"]) && body["account"] == "me" && body["authToken"] == "t")
        await #expect(throws: NewsstandError.self) { try await newsstand.entitlements(to: ["a", "c", "b"]) }
    }

    @Test("The address of a file is asked for with the size of the screen, whatever the product's name")
    func grant() async throws {
        let (newsstand, transport) = try Self.newsstand { _ in
            Self.json(
                """
                {"productId":"a/b","url":"/v1/files/x?s=1","size":5,"sha256":"\(Self.hash)","contentType":"application/zip",
                "screenSize":"1024x768","match":"smaller","entitledBy":"free","expiresAtMs":5000}
                """
            )
        }
        let grant = try await newsstand.downloadGrant(for: "a/b?", screenSize: "2048x1536")
        #expect(!grant.isExact && grant.file.size == 5 && grant.expiresAt == Date(timeIntervalSince1970: 5))
        let url = try #require(transport.requests.first?.url.absoluteString)
        #expect(url == "https://push.example.com/v1/apps/com.example.MyApp/issues/a%2Fb%3F:download")
        #expect(transport.bodies("POST").first == ["screenSize": "2048x1536"])
    }

    @Test("An address on a host without TLS is no address, nor one with a hash that is none")
    func badFiles() throws {
        let base = try #require(URL(string: "https://push.example.com"))
        for (url, hash) in [("http://a/b", Self.hash), ("file:///etc/passwd", Self.hash), ("/x", "../x"), ("/x", "A")] {
            let members: [String: JSONValue] = ["url": .string(url), "size": 1, "sha256": .string(hash)]
            #expect(PublishedFile(members, base: base) == nil, "\(url)")
        }
    }

    // MARK: - Downloads

    private static let content = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private static func file(_ content: Data, hash: String? = nil) throws -> PublishedFile {
        let sha256 = hash ?? SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()
        let members: [String: JSONValue] = [
            "url": "/v1/files/x", "size": .integer(Int64(content.count)), "sha256": .string(sha256),
        ]
        let base = try #require(URL(string: "https://push.example.com"))
        return try #require(PublishedFile(members, base: base))
    }

    private static func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "newsstand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "issue"))
    }

    @Test("A broken download goes on where it was, and the whole file is in its place")
    func resume() async throws {
        try await Self.inFolder { place in
            let file = try Self.file(Self.content)
            let (newsstand, transport) = try Self.newsstand { _ in
                TransportResponse(status: 200, body: Self.content.prefix(2000))
            }
            await #expect(throws: NewsstandError.self) { try await newsstand.download(file, to: place) }
            #expect(!FileManager.default.fileExists(atPath: place.path))
            transport.answer { request in
                #expect(request.headers["range"] == "bytes=2000-")
                return TransportResponse(
                    status: 206,
                    headers: ["content-range": "bytes 2000-4999/5000"],
                    body: Self.content.dropFirst(2000)
                )
            }
            let progress = Mutex<Int64>(0)
            try await newsstand.download(file, to: place) { bytes in progress.withLock { $0 = bytes } }
            #expect(try Data(contentsOf: place) == Self.content)
            #expect(progress.withLock { $0 } == 5000)
            #expect(!FileManager.default.fileExists(atPath: PartialFile.place(beside: place).path))
        }
    }

    @Test("A file with another hash leaves nothing, and so the next download begins anew")
    func wrongContent() async throws {
        try await Self.inFolder { place in
            let file = try Self.file(Self.content, hash: Self.hash)
            let (newsstand, transport) = try Self.newsstand { _ in TransportResponse(status: 200, body: Self.content) }
            for _ in 0..<2 {
                await #expect(throws: NewsstandError.wrongContent) { try await newsstand.download(file, to: place) }
            }
            #expect(transport.requests.allSatisfy { $0.headers["range"] == nil } && transport.requests.count == 2)
        }
    }

    @Test("What is whole already is checked without a request; what is too long is removed")
    func present() async throws {
        try await Self.inFolder { place in
            let file = try Self.file(Self.content)
            let (newsstand, transport) = try Self.newsstand { _ in TransportResponse(status: 200, body: Self.content) }
            try Self.content.write(to: PartialFile.place(beside: place))
            try await newsstand.download(file, to: place)
            #expect(transport.requests == [])
            #expect(try Data(contentsOf: place) == Self.content)
            try (Self.content + Data([0])).write(to: PartialFile.place(beside: place))
            try await newsstand.download(file, to: place)
            #expect(transport.requests.count == 1)
            #expect(try Data(contentsOf: place) == Self.content)
        }
    }

    @Test("A folder that is not there is an error of the storage")
    func noFolder() async throws {
        let (newsstand, _) = try Self.newsstand { _ in TransportResponse(status: 200, body: Self.content) }
        let file = try Self.file(Self.content)
        let error = await #expect(throws: NewsstandError.self) {
            try await newsstand.download(file, to: URL(filePath: "/nonexistent/issue"))
        }
        guard case .storage? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
