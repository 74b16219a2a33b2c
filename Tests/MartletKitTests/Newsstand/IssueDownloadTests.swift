import Foundation
import Testing

@testable import MartletKit

@Suite("The download of an issue") struct IssueDownloadTests {
    private static func file(size: Int64 = 10) throws -> PublishedFile {
        let members: [String: JSONValue] = [
            "url": "/v1/files/x", "size": .integer(size), "sha256": .string(String(repeating: "a", count: 64)),
        ]
        let base = try #require(URL(string: "https://push.example.com"))
        return try #require(PublishedFile(members, base: base))
    }

    private static func head(_ status: Int, _ headers: [String: String] = [:]) -> TransportResponse {
        TransportResponse(status: status, headers: headers)
    }

    @Test("A first request has no range; a later one asks for the rest of the same file")
    func headers() throws {
        #expect(IssueDownload(try Self.file(), present: 0).headers == ["accept-encoding": "identity"])
        let headers = IssueDownload(try Self.file(), present: 4).headers
        #expect(headers["range"] == "bytes=4-" && headers["if-range"] == "\"\(String(repeating: "a", count: 64))\"")
    }

    @Test("The rest is appended, and a whole file in its place begins anew")
    func parts() throws {
        var download = IssueDownload(try Self.file(), present: 4)
        #expect(try download.responded(Self.head(206, ["content-range": "bytes 4-9/10"])) == .append)
        #expect(try download.received(Data(count: 6)) == .write)
        try download.ended()
        download = IssueDownload(try Self.file(), present: 4)
        #expect(try download.responded(Self.head(200)) == .beginAnew)
        #expect(try download.received(Data(count: 10)) == .write)
        try download.ended()
    }

    @Test(
        "A response with another part is refused",
        arguments: [
            (206, ["content-range": "bytes 5-9/10"]), (206, [:]), (206, ["content-range": "bytes=4-9"]), (204, [:]),
        ]
    )
    func otherPart(status: Int, headers: [String: String]) throws {
        var download = IssueDownload(try Self.file(), present: 4)
        #expect(throws: NewsstandError.self) { try download.responded(Self.head(status, headers)) }
        var first = IssueDownload(try Self.file(), present: 0)
        #expect(throws: NewsstandError.self) { try first.responded(Self.head(206, ["content-range": "bytes 0-9/10"])) }
    }

    @Test("More bytes than the file has are no part of it; fewer are a broken connection")
    func length() throws {
        var download = IssueDownload(try Self.file(), present: 0)
        _ = try download.responded(Self.head(200))
        _ = try download.received(Data(count: 9))
        #expect(throws: NewsstandError.unavailable(reason: "the connection was broken off", retryAfter: nil)) {
            try download.ended()
        }
        #expect(throws: NewsstandError.wrongContent) { try download.received(Data(count: 2)) }
    }

    @Test("The body of an error is read, bounded, and says why")
    func errors() throws {
        var download = IssueDownload(try Self.file(), present: 4)
        #expect(try download.responded(Self.head(403)) == .readError)
        let body = Data(#"{"error":{"code":"address_expired","message":"ask again"}}"#.utf8)
        #expect(try download.received(body) == .skip)
        #expect(throws: NewsstandError.refused(code: "address_expired", message: "ask again")) { try download.ended() }

        var busy = IssueDownload(try Self.file(), present: 0)
        _ = try busy.responded(Self.head(503, ["retry-after": "9"]))
        for _ in 0..<10 { _ = try busy.received(Data(count: 10_000)) }
        #expect(throws: NewsstandError.unavailable(reason: "status 503", retryAfter: .seconds(9))) { try busy.ended() }
    }

    @Test("Nothing is received before the head, and a response without one is broken")
    func noHead() throws {
        var download = IssueDownload(try Self.file(), present: 0)
        #expect(throws: NewsstandError.self) { try download.received(Data(count: 1)) }
        #expect(throws: NewsstandError.self) { try IssueDownload(try Self.file(), present: 0).ended() }
    }
}
