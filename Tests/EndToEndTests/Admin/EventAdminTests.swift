import Foundation
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Testing

/// Events, notifications and counters in the admin API.
@Suite(.timeLimit(.patience)) struct EventAdminTests {
    private static let first = "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D"
    private static let second = "9D3C2F1A-1111-4222-8333-444455556666"

    let time = ManualTime(SystemTime().now)

    @Test func eventsAreFoundByWhatTheyAreOf() async throws {
        try await self.withTwoPushes { gateway, device, token in
            let byToken = try await gateway.admin.get("/v1/events?token=\(token)").json["events"].elements
            #expect(
                byToken.map { $0["name"].stringValue } == [
                    "replaced", "stored_offline", "received", "stored_offline", "received", "token_minted",
                ]
            )
            let one = try await gateway.admin.get("/v1/events?apnsId=\(Self.first.lowercased())").json["events"]
            #expect(one.elements.map { $0["event"].stringValue }.last == "Received by APNs")
            #expect(one.elements.allSatisfy { $0["apnsId"].stringValue == Self.first })
            #expect(one.elements.allSatisfy { $0["device"].stringValue == device && $0["environment"] == "sandbox" })
            let nothing = try await gateway.admin.get("/v1/events?topic=com.example.Other").json["events"]
            #expect(nothing.elements.isEmpty)
            #expect(try await gateway.admin.get("/v1/events?environment=production").json["events"].elements.isEmpty)
        }
    }

    @Test func aReaderContinuesFromItsLastID() async throws {
        try await self.withTwoPushes { gateway, device, _ in
            var ids: [Int64] = []
            while true {
                let page = try await gateway.admin.get("/v1/events?after=\(ids.last ?? 0)&limit=2").json["events"]
                guard !page.elements.isEmpty else { break }
                ids += page.elements.compactMap { $0["id"].integerValue }
            }
            let all = try await gateway.admin.get("/v1/events?limit=1000").json["events"]
            #expect(ids == all.elements.compactMap { $0["id"].integerValue }.reversed())
        }
    }

    @Test func aNotificationHasATimelineAndAStateInWords() async throws {
        try await self.withTwoPushes { gateway, device, _ in
            let replaced = try await gateway.admin.get("/v1/notifications/\(Self.first)").json
            #expect(replaced["state"] == "discarded: a newer one took its place")
            #expect(
                replaced["events"].elements.map { $0["name"].stringValue } == [
                    "received", "stored_offline", "replaced",
                ]
            )
            let stored = try await gateway.admin.get("/v1/notifications/\(Self.second)").json
            #expect(stored["state"] == "stored until the device connects")
            #expect(stored["devices"].elements.first?["device"].stringValue == device)
            #expect(try await gateway.admin.get("/v1/notifications/unknown").status == 404)
        }
    }

    @Test func countersHaveApplesNames() async throws {
        try await self.withTwoPushes { gateway, _, _ in
            let counters = try await gateway.admin.get("/v1/counters").json["counters"].elements
            let received = counters.first { $0["environment"] == "sandbox" && $0["event"] == "Received by APNs" }
            #expect(received?["count"] == 2)
            let delivered = counters.first { $0["environment"] == "sandbox" && $0["event"] == "Delivered to Device" }
            #expect(delivered?["count"] == 0)
            #expect(!counters.contains { $0["environment"] == "production" }, "it is not served here")
        }
    }

    @Test(arguments: [
        ("token=zz", "invalid_token"), ("token=\(Vectors.tokenA)", "invalid_token"), ("device=x", "invalid_value"),
        ("environment=x", "invalid_environment"), ("limit=1001", "invalid_value"), ("after=-1", "invalid_value"),
        ("token=aa&topic=x", "conflicting_field"), ("apnsId=", "invalid_value"),
    ])
    func anInvalidQueryIsRejected(query: String, code: String) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                let response = try await gateway.admin.get("/v1/events?\(query)")
                #expect(response.status == 400)
                #expect(response.code == code)
            }
        }
    }

    @Test func theStatusNamesTheListeners() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                let status = try await gateway.admin.get("/v1/status").json
                #expect(status["status"] == "ok")
                #expect(status["admin"].stringValue == "127.0.0.1:\(gateway.addresses.admin)")
                let doors = status["environments"].elements.first?["doors"]
                #expect(doors?["http2"].stringValue == "127.0.0.1:\(gateway.addresses.main.http2)")
                #expect(doors?["courier"].stringValue == "127.0.0.1:\(gateway.addresses.main.deviceLink)")
            }
        }
    }

    @Test func anotherMethodIsRejectedWithTheKnownOnes() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                for (method, path, allow) in [
                    ("PUT", "/v1/devices", "GET, POST"), ("POST", "/health", "GET"), ("DELETE", "/metrics", "GET"),
                ] {
                    let response = try await gateway.admin.call(method, path, nil)
                    #expect(response.status == 405)
                    #expect(response.code == "method_not_allowed")
                    #expect(response.headers["allow"] == allow)
                }
            }
        }
    }

    /// A device that is away, and two pushes to it: the second took the place of the first.
    private func withTwoPushes(
        _ body: @escaping @Sendable (RunningGateway, _ device: String, _ token: String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, time: self.time) { gateway in
                try await gateway.registerVectors()
                let identity = try await gateway.add()
                let token = try await gateway.token(identity, time: self.time)
                try await gateway.isOnline(identity, false)
                for id in [Self.first, Self.second] {
                    #expect(try await gateway.pushStatus(token, id: id, time: self.time) == 200)
                }
                try await body(gateway, identity.deviceID, token)
            }
        }
    }
}
