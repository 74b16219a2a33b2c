import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Lists that are filtered, sorted and paged, over a real port.
@Suite(.timeLimit(.patience)) struct ListTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    private func withNotifications(_ body: @escaping @Sendable (RunningProvider) async throws -> Void) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for number in 0..<4 {
                let user: JSONValue = .string("user \(number)")
                _ = try await provider.register(DeviceToken.numbered(number).hex, ["user": user, "tags": ["all"]])
            }
            for name in ["Spring sale", "Autumn sale", "News"] {
                let sent = try await provider.send([
                    "name": .string(name), "to": ["tag": "all"], "alert": "Hi", "environment": "sandbox",
                ])
                _ = try await provider.finished(sent)
            }
            try await body(provider)
        }
    }

    private func names(_ provider: RunningProvider, _ query: String) async throws -> [String] {
        let list = try await provider.api.get("/v1/notifications?\(query)").json["notifications"].elements
        return list.compactMap { $0["name"].stringValue }
    }

    @Test func notificationsAreFilteredSortedAndCounted() async throws {
        try await self.withNotifications { provider in
            #expect(try await self.names(provider, "nameContains=SALE") == ["Autumn sale", "Spring sale"])
            #expect(try await self.names(provider, "sort=name") == ["Autumn sale", "News", "Spring sale"])
            #expect(try await self.names(provider, "lane=urgent") == [])
            #expect(try await self.names(provider, "from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z") == [])
            #expect(try await self.names(provider, "state=done&lane=bulk").count == 3)
            let first = try await provider.api.get("\(Self.app)/notifications?sort=recipients&limit=2&total=true").json
            #expect(first["total"] == 3 && first["totalIsExact"] == true && first["notifications"].elements.count == 2)
            let next = first["next"].stringValue ?? ""
            let second = try await provider.api.get("\(Self.app)/notifications?sort=recipients&limit=2&cursor=\(next)")
                .json
            #expect(second["notifications"].elements.count == 1 && second["total"] == .null)
            let other = try await provider.api.get("\(Self.app)/notifications?sort=name&cursor=\(next)")
            #expect(other.json["error"]["code"] == "invalid_cursor", "a cursor belongs to its order")
            for query in [
                "sort=size", "key=7", "lane=fast", "total=yes", "from=soon", "nameContains=", "from=%2B5", "from=-0",
                "to=0000000000000001", "to=253402300800",
            ] {
                #expect(try await provider.api.get("/v1/notifications?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test func devicesAreFoundByTheBeginningOfTheirToken() async throws {
        try await self.withNotifications { provider in
            let token = DeviceToken.numbered(2)
            for (query, expected) in [
                ("token=\(token.hex)", 1...1), ("token=\(token.hex.uppercased().prefix(63))", 1...4),
                ("token=ffff", 0...0), ("user=user%201&sort=lastSeen", 1...1), ("state=inactive", 0...0),
                ("sort=user&tag=all", 4...4),
            ] {
                let found = try await provider.api.get("\(Self.app)/devices?\(query)").json["devices"].elements.count
                #expect(expected.contains(found), "\(query): \(found)")
            }
            for query in ["token=f", "token=ff", "token=zzzz!", "state=lost", "sort=locale"] {
                #expect(try await provider.api.get("\(Self.app)/devices?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test func deliveriesAndTheAuditAreFiltered() async throws {
        try await self.withNotifications { provider in
            let list = try await provider.api.get("\(Self.app)/notifications").json["notifications"].elements
            let path = "/v1/notifications/\(list.first?["id"].stringValue ?? "")/deliveries"
            #expect(try await provider.api.get("\(path)?state=accepted").json["deliveries"].elements.count == 4)
            #expect(try await provider.api.get("\(path)?state=failed&reason=late").json["deliveries"] == [])
            let audit = try await provider.api.get("/v1/audit?action=put%20/v1/apps&result=done").json["entries"]
                .elements
            #expect(audit.count == 2 && audit.allSatisfy { $0["action"].stringValue?.contains("credentials") == true })
            #expect(try await provider.api.get("/v1/audit?name=nobody").json["entries"] == [])
        }
    }

    @Test func theCalendarHasTheRunsOfAllSchedulesInTheirOrder() async throws {
        try await self.withNotifications { provider in
            for (name, cron) in [("noon", "0 12 * * *"), ("hourly", "30 * * * *")] {
                let schedule: JSONValue = [
                    "name": .string(name), "schedule": ["cron": .string(cron), "timeZone": "UTC"],
                    "notification": ["to": ["all": true], "alert": "Hi"],
                ]
                #expect(try await provider.api.post("\(Self.app)/schedules", schedule).status == 201)
            }
            let range = "from=2100-03-01T00:00:00Z&to=2100-03-02T00:00:00Z"
            let calendar = try await provider.api.get("\(Self.app)/schedules:calendar?\(range)").json
            #expect(calendar["runs"].elements.count == 25 && calendar["complete"] == true)
            #expect(calendar["runs"].elements[12]["name"] == "noon")
            let long = "from=2100-03-01T00:00:00Z&to=2100-06-01T00:00:00Z"
            let bounded = try await provider.api.get("\(Self.app)/schedules:calendar?\(long)").json
            #expect(bounded["runs"].elements.count == 1000 && bounded["complete"] == false)
            let endless = "from=2100-03-01T00:00:00Z&to=2101-06-01T00:00:00Z"
            #expect(try await provider.api.get("\(Self.app)/schedules:calendar?\(endless)").status == 400)
        }
    }
}
