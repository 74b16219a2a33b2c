import Foundation
import PushTesting
import Testing

@testable import AppSimulator
@testable import MartletKit

/// A provider that offers more than there is, or something else than was asked for.
@Suite("The app of a reader against a hostile provider", .timeLimit(.patience)) struct HostilePublisherTests {
    @Test(
        "A catalogue without end fills the library up to its limit and displaces no issue that is here",
        arguments: [true, false]
    )
    func endlessCatalogue(isListed: Bool) throws {
        var reader = ReaderDriver()
        try reader.download("issue7")
        var catalogue = try Samples.catalogue([], next: "again")
        for page in 0..<3 {
            let products = (0..<500).map { "other\(page)-\($0)" }
            catalogue = catalogue.followed(by: try Samples.catalogue(products, next: "again"))
        }
        if isListed { catalogue = catalogue.followed(by: try Samples.catalogue(["issue7"], next: "again")) }
        reader.catalogue(catalogue)
        let library = reader.machine.state.library
        #expect(library.count == ReaderState.maximumIssues)
        #expect(library.first?.product == "other0-0" && library.dropLast().last?.product == "other1-498")
        #expect(library.last?.product == "issue7" && library.last?.status == .downloaded)
    }

    private static func newsstand(_ server: TestProxy) throws -> (newsstand: Newsstand, base: URL) {
        let base = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        let configuration = try Martlet.Configuration(provider: base, app: "com.example.MyApp", key: "mk_public_x")
        return (Newsstand(configuration, transport: HTTPClientTransport()), base)
    }

    @Test(
        "A download that is redirected stays where it is and leaves nothing",
        arguments: ["file:///etc/passwd", "/b"]
    )
    func redirection(location: String) async throws {
        let head = "HTTP/1.1 302 Found\r\nlocation: \(location)\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        let server = try await TestProxy.start(.answer(head))
        let (newsstand, base) = try Self.newsstand(server)
        let members: [String: JSONValue] = ["url": "/a", "size": 5, "sha256": .string(Samples.hash("a"))]
        let file = try #require(PublishedFile(members, base: base))
        try await withTemporaryDirectory { folder in
            let place = URL(filePath: folder).appending(path: "issue")
            await #expect(throws: NewsstandError.unavailable(reason: "status 302", retryAfter: nil)) {
                try await newsstand.download(file, to: place)
            }
            #expect(!FileManager.default.fileExists(atPath: place.path))
        }
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test("A header of too many fields, or of one without end, is an error", arguments: ["a: b\r\n", "a"])
    func headerBomb(piece: String) async throws {
        let server = try await TestProxy.start(
            .answer("HTTP/1.1 200 OK\r\n" + String(repeating: piece, count: 100_000))
        )
        let (newsstand, _) = try Self.newsstand(server)
        let error = await #expect(throws: NewsstandError.self) { try await newsstand.catalogue() }
        if case .unavailable? = error {} else { Issue.record("\(String(describing: error))") }
        await server.stop()
    }
}
