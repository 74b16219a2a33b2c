import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Testing

/// Many connections of one client, beside those of others: over sockets.
@Suite(.timeLimit(.patience)) struct ConnectionShareTests {
    /// Makes a request on a connection that stays open, and returns the response, with what was left of the one before.
    private static func request(
        _ connection: RawConnection,
        _ line: String,
        key: String? = nil
    ) async throws -> String {
        let authorization = key.map { "authorization: Bearer \($0)\r\n" } ?? ""
        connection.write("\(line) HTTP/1.1\r\nhost: a\r\n\(authorization)\r\n".utf8)
        let response = try await connection.read { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }
        return String(decoding: response, as: UTF8.self)
    }

    /// Opens more connections than there are, each with a request, while the administrator has one of before and opens others.
    private func attack(_ fixture: PublishingFixture, _ line: String, key: String?) async throws {
        let port = try #require(URL(string: fixture.api.baseURL)?.port)
        let admin = try await RawConnection.open(port: port)
        #expect(try await Self.request(admin, "GET /v1/apps", key: fixture.api.apiKey).contains("HTTP/1.1 200"))
        var attackers: [RawConnection] = []
        for _ in 0..<40 {
            let connection = try await RawConnection.open(port: port)
            #expect(try await Self.request(connection, line, key: key).contains("HTTP/1.1 200"))
            attackers.append(connection)
        }
        #expect(try await Self.request(admin, "GET /v1/apps", key: fixture.api.apiKey).contains("HTTP/1.1 200"))
        for _ in 0..<3 {
            let other = try await RawConnection.open(port: port)
            #expect(try await Self.request(other, "GET /v1/apps", key: fixture.api.apiKey).contains("HTTP/1.1 200"))
            attackers.append(other)
        }
        for connection in attackers + [admin] { await connection.close() }
    }

    /// Who has an address of a file reads its fields on as many connections as that network may have.
    @Test func theAddressOfAFileLeavesConnectionsToOthers() async throws {
        try await withPublishing(configure: { $0.limits.connections = 16 }) { fixture in
            let file = try await fixture.upload(Data([1, 2, 3]))
            _ = try await fixture.addIssue("issue1", renditions: ["1024x768": file])
            let path = "\(PublishingFixture.app)/issues/issue1:download"
            let url = try #require(
                try await fixture.reader.post(path, ["screenSize": "1024x768"]).json["url"].stringValue
            )
            try await self.attack(fixture, "HEAD \(url)", key: nil)
        }
    }

    @Test func aKeyOfOneAppLeavesConnectionsToOthers() async throws {
        try await withPublishing(configure: { $0.limits.connections = 16 }) { fixture in
            let body: JSONValue = ["name": "read", "scopes": ["read"], "apps": [.string(Vectors.bundleID)]]
            let key = try await fixture.api.post("/v1/keys", body).json["key"].stringValue
            try await self.attack(fixture, "GET /v1/key", key: key)
        }
    }

    @Test func manyKeysOfOneAppLeaveConnectionsToOthers() async throws {
        let bounds = BudgetLimits.Levels<BudgetBound>(whole: .held(16), app: .held(3))
        try await withPublishing(configure: { $0.budgetLimits[.connections] = BudgetLimits(bounds) }) { fixture in
            let port = try #require(URL(string: fixture.api.baseURL)?.port)
            var open: [RawConnection] = []
            for number in 0..<8 {
                let body: JSONValue = [
                    "name": "read \(number)", "scopes": ["read"], "apps": [.string(Vectors.bundleID)],
                ]
                let key = try await fixture.api.post("/v1/keys", body).json["key"].stringValue
                let connection = try await RawConnection.open(port: port)
                #expect(try await Self.request(connection, "GET /v1/key", key: key).contains("HTTP/1.1 200"))
                open.append(connection)
            }
            // The first ones made room: they end.
            for connection in open.prefix(5) { _ = await connection.readToEnd() }
            let last = try #require(open.last)
            let key = fixture.api.apiKey
            #expect(try await Self.request(last, "GET /v1/apps", key: key).contains("HTTP/1.1 200"))
            for connection in open { await connection.close() }
        }
    }

    #if os(Linux)
    @Test func aNetworkThatHasShownAKeyHasARateOfItsOwn() async throws {
        let bound = BudgetLimits(.init(caller: .rate(perSecond: 0.001, burst: 2)))
        try await withPublishing(configure: { $0.budgetLimits[.strangerConnections] = bound }) { fixture in
            let port = try #require(URL(string: fixture.api.baseURL)?.port)
            func open() async throws -> RawConnection { try await RawConnection.open(port: port, from: "127.0.0.2") }
            let (first, second) = (try await open(), try await open())
            #expect(try await Self.request(first, "GET /v1/apps").contains("HTTP/1.1 401"))
            #expect(try await Self.request(second, "GET /v1/apps").contains("HTTP/1.1 401"))
            #expect(try await open().readToEnd().isEmpty)
            #expect(try await Self.request(second, "GET /v1/apps", key: fixture.api.apiKey).contains("HTTP/1.1 200"))
            let third = try await open()
            #expect(try await Self.request(third, "GET /v1/apps").contains("HTTP/1.1 401"))
            for connection in [first, second, third] { await connection.close() }
        }
    }
    #endif
}
