import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Testing

/// The connections of who posts to an address.
extension WebPushRoutesTests {
    /// Every server that sends to a subscriber has the address. One that is beyond its rate earns its connection nothing.
    @Test func anAddressLeavesConnectionsToOthers() async throws {
        let configure: @Sendable (inout ProviderConfiguration) -> Void = {
            $0.limits.connections = 16
            $0.budgetLimits[.resourceMessages] = BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 12)))
        }
        try await self.withInstallation(time: ManualTime(), configure: configure) { fixture in
            let path = try await fixture.path()
            let port = try #require(URL(string: fixture.provider.api.baseURL)?.port)
            let post = "POST \(path) HTTP/1.1\r\nhost: a\r\nttl: 60\r\ncontent-length: 0\r\n\r\n"
            var (attackers, accepted): ([RawConnection], Int) = ([], 0)
            for _ in 0..<24 {
                let connection = try await RawConnection.open(port: port)
                connection.write(post.utf8)
                let response = try await connection.read { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }
                if String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 201") { accepted += 1 }
                attackers.append(connection)
            }
            #expect(accepted == 12)
            let key = fixture.provider.api.apiKey ?? ""
            for _ in 0..<3 {
                let admin = try await RawConnection.open(port: port)
                admin.write("GET /v1/apps HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(key)\r\n\r\n".utf8)
                let response = try await admin.read { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }
                #expect(String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
                attackers.append(admin)
            }
            for connection in attackers { await connection.close() }
        }
    }

    /// What is no message earns its connection nothing, whatever the address.
    @Test func aConnectionDoesNotCountOnTheAddressOfWhatIsNoMessage() async throws {
        try await self.withInstallation { fixture in
            let path = try await fixture.path()
            let port = try #require(URL(string: fixture.provider.api.baseURL)?.port)
            let connection = try await RawConnection.open(port: port)
            let before = try await fixture.connections()
            for (field, status) in [("urgency: high", "400"), ("ttl: 60", "201")] {
                connection.write("POST \(path) HTTP/1.1\r\nhost: a\r\n\(field)\r\ncontent-length: 0\r\n\r\n".utf8)
                let response = try await connection.read { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }
                #expect(String(decoding: response, as: UTF8.self).contains("HTTP/1.1 \(status)"))
                #expect(try await fixture.connections() == (status == "201" ? before + 1 : before))
            }
            await connection.close()
        }
    }

    /// Who has many addresses of an app leaves places to its keys, however long the next messages take.
    @Test func theAddressesOfAnAppLeaveConnectionsToItsKeys() async throws {
        try await self.withInstallation(configure: { $0.limits.connections = 32 }) { fixture in
            let paths = [try await fixture.path(), try await fixture.path()]
            let port = try #require(URL(string: fixture.provider.api.baseURL)?.port)
            let body: JSONValue = ["name": "read", "scopes": ["read"], "apps": [.string(Vectors.bundleID)]]
            let key = try await fixture.provider.api.post("/v1/keys", body).json["key"].stringValue ?? ""
            func request(_ connection: RawConnection, _ text: String) async throws -> String {
                connection.write(text.utf8)
                let response = try await connection.read { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }
                return String(decoding: response, as: UTF8.self)
            }
            var open: [RawConnection] = []
            for number in 0..<32 {
                let connection = try await RawConnection.open(port: port)
                open.append(connection)
                let post = "POST \(paths[number % 2]) HTTP/1.1\r\nhost: a\r\nttl: 60\r\ncontent-length: "
                let response = try await request(connection, post + "0\r\n\r\n")
                guard response.contains("HTTP/1.1 201") else {
                    #expect(response.contains("HTTP/1.1 503"))
                    break
                }
                connection.write("\(post)4000\r\n\r\na".utf8)
            }
            for _ in 0..<3 {
                let connection = try await RawConnection.open(port: port)
                open.append(connection)
                let fields = "host: a\r\nauthorization: Bearer \(key)"
                let response = try await request(connection, "GET /v1/key HTTP/1.1\r\n\(fields)\r\n\r\n")
                #expect(response.contains("HTTP/1.1 200"))
            }
            for connection in open { await connection.close() }
        }
    }

    /// A body that never ends earns its connection nothing.
    @Test func aConnectionCountsOnTheAddressOnceItsMessageIsWhole() async throws {
        let configure: @Sendable (inout ProviderConfiguration) -> Void = {
            $0.budgetLimits[.resourceMessages] = BudgetLimits(.init(caller: .rate(perSecond: 0.000_1, burst: 2)))
        }
        try await self.withInstallation(configure: configure) { fixture in
            let port = try #require(URL(string: fixture.provider.api.baseURL)?.port)
            let body = try #require(Self.body)
            var open: [RawConnection] = []
            while true {
                let path = try await fixture.path()
                func begin() async throws -> RawConnection {
                    let connection = try await RawConnection.open(port: port)
                    open.append(connection)
                    let fields = "host: a\r\nttl: 60\r\ncontent-encoding: aes128gcm\r\ncontent-length: \(body.count)"
                    connection.write("POST \(path) HTTP/1.1\r\n\(fields)\r\n\r\n".utf8)
                    return connection
                }
                func isAccepted(_ connection: RawConnection) async throws -> Bool {
                    connection.write(body)
                    let response = try await connection.read {
                        String(decoding: $0, as: UTF8.self).contains("\r\n\r\n")
                    }
                    return String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 201")
                }
                let slow = try await begin()
                let others = [try await isAccepted(begin()), try await isAccepted(begin())]
                // The rate has two: the second is refused once the slow one has been let in, and waits for its body.
                guard others == [true, false] else { continue }
                let before = try await fixture.connections()
                #expect(try await isAccepted(slow))
                #expect(try await fixture.connections() == before + 1)
                break
            }
            for connection in open { await connection.close() }
        }
    }
}

extension WebPushRoutesTests.Fixture {
    /// Returns the number of connections that count on the app.
    fileprivate func connections() async throws -> Int {
        let metrics = String(decoding: try await self.provider.api.get("/metrics").body, as: UTF8.self)
        let name = "martlet_resource_in_use{app=\"\(Vectors.bundleID)\",resource=\"connections\"} "
        let line = metrics.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }
}
