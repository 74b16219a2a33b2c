import Foundation
import NIOCore
import ProviderModel
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import PushStore

/// Admission: no caller takes resources from others.
@Suite(.timeLimit(.patience)) struct OperationRunnerTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"
    /// An audience that no index serves.
    static let costly: JSONValue = [
        "audience": [
            "and": .array((0..<60).map { ["not": ["attribute": .string("level\($0)"), "atLeast": 3]] })
        ]
    ]

    private struct Server: Sendable {
        let port: Int
        let api: JSONClient
        let store: SQLStore

        /// A client with a key of its own.
        func client(_ scope: String) async throws -> JSONClient {
            var client = self.api
            let key = try await self.api.post("/v1/keys", ["name": .string(scope), "scopes": [.string(scope)]])
            client.apiKey = key.json["key"].stringValue
            return client
        }

        func until(_ questions: (Int, Int)) async throws {
            try await eventually { self.store.queryCounts == questions }
        }

        /// Takes the turn of the one query that may run.
        func turn() async throws -> BudgetPermit {
            try await #require(self.store.sqlite).readers.queries.wait(for: BudgetCaller(.name("test")))
        }
    }

    /// - Parameter devices: so many, registered.
    private func withServer(
        devices: Int = 0,
        time: any TimeSource = SystemTime(),
        configure: (inout ProviderConfiguration.Limits) -> Void = { _ in },
        limits: (inout BudgetLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (Server) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = ProviderConfiguration(dataDirectory: directory)
            configuration.port = 0
            configuration.bePatient()
            // Every query counts as a long one.
            configuration.limits.queries.attempt = .zero
            configure(&configuration.limits)
            limits(&configuration.budgetLimits[.queries, default: BudgetedResource.queries.row.limits])
            let server = try await ProviderServer(
                configuration: configuration,
                senders: ScriptedSender(),
                time: time,
                logger: silentLogger
            )
            try await withServices([server]) {
                let port = try await server.port()
                let api = JSONClient(baseURL: "http://127.0.0.1:\(port)", apiKey: server.firstAdminKey)
                try await RunningProvider(api: api).addVectorsApp()
                let list = (0..<devices).map { number -> JSONValue in
                    ["token": .string(DeviceToken.numbered(number).hex), "user": "anna", "environment": "sandbox"]
                }
                if devices > 0 { try await api.post("\(Self.app)/devices:batch", ["devices": .array(list)]) }
                try await body(Server(port: port, api: api, store: server.core.store))
            }
        }
    }

    @Test func aQueryThatIsTooExpensiveIsRejectedWithAReason() async throws {
        try await self.withServer(devices: 200, configure: { $0.query = .zero }) { server in
            for path in ["audience:count", "audience:preview"] {
                let response = try await server.api.post("\(Self.app)/\(path)", Self.costly)
                #expect(response.status == 503)
                #expect(response.code == "query_too_expensive")
                #expect(response.headers["retry-after"] != nil)
            }
            // A notification to the same is accepted: its recipients are counted with another budget.
            let sent = try await server.api.post(
                "\(Self.app)/notifications",
                ["to": Self.costly["audience"], "alert": "Hi"]
            )
            #expect(sent.status == 202)
            #expect(sent.json["recipients"] == 200)
        }
    }

    /// While long queries are blocked, everything else runs, and another query of the same key is rejected.
    @Test func onlyQueriesWaitForQueries() async throws {
        try await self.withServer(devices: 200, limits: { $0.waiting?.caller = 1 }) { server in
            let reader = try await server.client("read")
            let turn = try await server.turn()
            defer { turn.end() }
            let waiting = Task { try await reader.post("\(Self.app)/audience:count", Self.costly) }
            try await server.until((1, 1))
            let refused = try await reader.post("\(Self.app)/audience:count", Self.costly)
            #expect(refused.status == 429)
            #expect(refused.code == "too_many_queries")
            #expect(refused.headers["retry-after"] != nil)
            #expect(try await reader.get("/v1/apps").status == 200)
            #expect(try await server.api.get("/metrics").status == 200)
            let sent = try await server.api.post(
                "\(Self.app)/notifications",
                ["to": ["user": "anna"], "alert": "Hi"]
            )
            #expect(sent.status == 202)
            waiting.cancel()
        }
    }

    /// With a raw socket: the client disconnects, and its query ends.
    @Test func aQueryEndsWhenItsClientDisconnects() async throws {
        try await self.withServer(devices: 200) { server in
            let turn = try await server.turn()
            defer { turn.end() }
            let connection = try await RawConnection.open(port: server.port)
            let body = try Self.costly.text
            let head = """
                POST \(Self.app)/audience:count HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(server.api.apiKey ?? "")\r
                content-length: \(body.count)\r\n\r\n
                """
            connection.write(Array(head.utf8) + body)
            try await server.until((1, 1))
            await connection.close()
            try await server.until((1, 0))
        }
    }

    @Test func aGracefulShutdownDoesNotWaitForQueries() async throws {
        let turns = AsyncStream.makeStream(of: BudgetPermit.self)
        let responses = AsyncStream.makeStream(of: Task<JSONClient.Response, any Error>.self)
        try await self.withServer(devices: 200) { server in
            turns.continuation.yield(try await server.turn())
            responses.continuation.yield(Task { try await server.api.post("\(Self.app)/audience:count", Self.costly) })
            try await server.until((1, 1))
        }
        for await response in responses.stream {
            let response = try await response.value
            #expect(response.status == 503)
            #expect(response.code == "ending")
            break
        }
        for await turn in turns.stream {
            turn.end()
            break
        }
    }

    @Test func aDeletedKeyStopsWorkingAtOnce() async throws {
        try await self.withServer { server in
            let reader = try await server.client("read")
            #expect(try await reader.get("/v1/apps").status == 200)
            let keys = try await server.api.get("/v1/keys").json["keys"].elements
            let id = keys.first { $0["name"] == "read" }?["id"].stringValue ?? ""
            #expect(try await server.api.delete("/v1/keys/\(id)").status == 204)
            #expect(try await reader.get("/v1/apps").status == 401)
        }
    }

    @Test func aKeyHasItsRate() async throws {
        // Nothing comes back while the clock stands still, however long the requests take.
        try await self.withServer(time: ManualTime(), configure: { $0.keyRate = 10 }) { server in
            let reader = try await server.client("read")
            var refused: JSONClient.Response?
            while refused == nil {
                let response = try await reader.get("/v1/apps")
                if response.status != 200 { refused = response }
            }
            #expect(refused?.status == 429)
            #expect(refused?.code == "too_many_requests")
            #expect(refused?.headers["retry-after"] == "1")
            let metrics = String(decoding: try await server.api.get("/metrics").body, as: UTF8.self)
            #expect(metrics.contains(#"martlet_api_throttled_total{code="too_many_requests"}"#))
            #expect(metrics.contains("martlet_store_wal_bytes"))
        }
    }

    /// Silent connections are closed for new ones, before the listener reaches its limit.
    @Test func silentConnectionsMakeRoom() async throws {
        try await self.withServer(configure: {
            $0.connections = 20
            $0.unauthenticated.deadline = .hours(1)
        }) { server in
            let port = try #require(Int(server.api.baseURL.split(separator: ":").last ?? ""))
            for _ in 0..<40 { _ = try await RawConnection.open(port: port) }
            var response = ""
            while !response.hasPrefix("HTTP/1.1 200") {
                let connection = try await RawConnection.open(port: port)
                connection.write(Array("GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".utf8))
                response = String(decoding: await connection.readToEnd(), as: UTF8.self)
            }
        }
    }

    /// Failed requests share entries that count them, and each change that was made has an entry of its own.
    @Test func failedRequestsDoNotFillTheAudit() async throws {
        // All within one minute, however long they take.
        try await self.withServer(time: ManualTime()) { server in
            let reader = try await server.client("read")
            for _ in 0..<50 {
                #expect(try await reader.call("PATCH", Self.app, Data(#"{"rate":1}"#.utf8)).status == 403)
            }
            for number in 0..<50 {
                #expect(try await reader.call("PATCH", "/v1/apps/com.example.a\(number)", nil).status == 403)
            }
            for _ in 0..<3 {
                #expect(try await server.api.call("PATCH", Self.app, Data(#"{"rate":1}"#.utf8)).status == 200)
            }
            let entries = try await server.api.get("/v1/audit?limit=1000").json["entries"].elements
            let refused = entries.filter { $0["keyName"] == "read" }
            #expect(refused.count == AuditAggregator.maximumKinds + 1)
            #expect(refused.last?["count"] == 50)
            #expect(refused.compactMap { $0["count"].integerValue }.reduce(0, +) == 100)
            #expect(entries.filter { $0["action"] == .string("PATCH \(Self.app)") && $0["status"] == 200 }.count == 3)
        }
    }

    /// 49 of the 50 devices have no deliveries, and still each campaign is searched for each of them.
    @Test func aUsersHistoryReachesBackInPages() async throws {
        try await self.withServer(devices: 50) { server in
            let app = try #require(try await server.store.apps().first)
            for _ in 0..<120 {
                let campaign = try await server.store.start(app: app.id, shards: []) { $0.lane = .bulk }
                try await server.store.database.run(
                    sql: """
                        INSERT INTO delivery (notification, recipient, state, attempts, at)
                        SELECT number, 1, 1, 1, 0 FROM notification WHERE id = ?
                        """,
                    [campaign.id.uuidString]
                )
            }
            let path = "\(Self.app)/users/anna/history?limit=1000"
            let first = try await server.api.get(path).json
            #expect(first["deliveries"].elements.count == 100)
            let next = try #require(first["next"].stringValue)
            let second = try await server.api.get("\(path)&cursor=\(next)").json
            #expect(second["deliveries"].elements.count == 20)
            #expect(second["next"] == .null)
        }
    }
}
