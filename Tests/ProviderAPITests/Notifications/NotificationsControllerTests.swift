import Foundation
import ProviderAPI
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Previews, lists, states, schedules.
@Suite(.timeLimit(.patience)) struct NotificationsControllerTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    /// The response to the request has the next moment already, and not only that to a later question.
    @Test func whatWaitsNamesItsNextMoment() async throws {
        try await withProvider(senders: ScriptedSender(), time: ManualTime()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["timeZone": "Europe/Berlin"])
            func check(_ when: JSONValue, _ state: JSONValue, _ cause: JSONValue, _ next: JSONValue) async throws {
                let body: JSONValue = ["to": ["all": true], "alert": "Hi", "when": when]
                let sent = try await provider.api.post("\(Self.app)/notifications", body)
                #expect(sent.status == 202 && sent.json["state"] == state)
                let shown = try await provider.api.get("/v1/notifications/\(sent.json["id"].stringValue ?? "")").json
                for response in [sent.json, shown] {
                    #expect(response["waitingFor"] == cause)
                    #expect(response["nextAt"] == next)
                }
            }
            // Before that, in Berlin: the notification itself is opened 14 hours before UTC's clocks show it.
            try await check(["localTime": "2023-11-16T09:30"], "scheduled", "localTime", "2023-11-16T08:30:00.000Z")
            try await check(["at": "2023-11-16T09:30:00Z"], "scheduled", "start", "2023-11-16T09:30:00.000Z")
            let hours: JSONValue = ["from": "09:00", "to": "10:00"]
            try await check(["window": hours], "accepted", "window", "2023-11-15T08:00:00.000Z")
        }
    }

    @Test func aTokenThatCannotBeOneIsRejected() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for token in ["abcd", "null", "zz", String(repeating: "ab", count: 31)] {
                let body: JSONValue = [
                    "to": ["tokens": [.string(Vectors.tokenA), .string(token)]], "environment": "sandbox",
                    "alert": "Hi",
                ]
                let response = try await provider.api.post("\(Self.app)/notifications", body)
                #expect(response.status == 400 && response.field == "to.tokens[1]", "\(token)")
            }
        }
    }

    @Test func aScheduleForTokensThatNobodyHasIsAWarning() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, [:])
            let content: JSONValue = ["to": ["all": true], "pushType": "voip", "data": ["a": 1]]
            let schedule: JSONValue = ["cron": "0 9 * * *", "timeZone": "Europe/Berlin"]
            let body: JSONValue = ["name": "daily", "schedule": schedule, "notification": content]
            let added = try await provider.api.post("\(Self.app)/schedules", body)
            #expect(added.status == 201)
            #expect(added.json["warnings"].elements.map { $0["field"] }.contains("notification.pushType"))
        }
    }

    @Test func aPreviewCountsNobodyWhereNobodyAsks() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let (path, body) = ("\(Self.app)/notifications:preview", ["to": ["all": true], "alert": "Hi"] as JSONValue)
            let counted = try await provider.api.post(path, body).json
            let quick = try await provider.api.post("\(path)?count=false", body).json
            #expect(counted["recipients"] == 1 && quick["recipients"] == .null)
            #expect(quick["payload"] == counted["payload"] && quick["warnings"] == counted["warnings"])
            #expect(try await provider.api.post("\(path)?count=x", body).status == 400)
        }
    }

    @Test func aPreviewRendersForADeviceAndSendsNothing() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["attributes": ["name": "Ann"], "locale": "de"])
            var body: [String: JSONValue] = [
                "to": ["all": true], "alert": "Hi {{name|you}}", "template": true,
                "localizations": ["de": ["alert": "Hallo {{name|du}}"]],
            ]
            let path = "\(Self.app)/notifications:preview"
            let plain = try await provider.api.post(path, .object(body)).json
            #expect(plain["recipients"] == 1)
            #expect(plain["payload"]["aps"]["alert"] == "Hi you")
            body["device"] = .string(Vectors.tokenA)
            let real = try await provider.api.post(path, .object(body)).json
            #expect(real["payload"]["aps"]["alert"] == "Hallo Ann")
            #expect(real["locale"] == "de")
            body["badge"] = "+3"
            #expect(try await provider.api.post(path, .object(body)).json["payload"]["aps"]["badge"] == 3)
            body["badge"] = nil
            body["subject"] = ["attributes": ["name": "Bob"]]
            #expect(try await provider.api.post(path, .object(body)).field == "subject")
            body["device"] = nil
            #expect(try await provider.api.post(path, .object(body)).json["payload"]["aps"]["alert"] == "Hi Bob")
            body["alert"] = "{{missing}}"
            body["localizations"] = nil
            let problem = try await provider.api.post(path, .object(body)).json
            #expect(problem["problem"].stringValue?.contains("missing") == true)
            #expect(problem["payload"] == .null)
            #expect(problem["warnings"].elements.isEmpty == false)
            #expect(sender.sent.isEmpty)
        }
    }

    @Test func aNotificationShowsItsNameItsContentAndItsKey() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let sent = try await provider.send([
                "to": ["all": true], "name": "Spring", "expiresIn": "6h", "alert": "Hi {{name|you}}", "template": true,
                "localizations": ["de": ["alert": "Hallo"]], "collapseId": "c", "badge": "+2",
            ])
            #expect(sent.json["name"] == "Spring")
            #expect(sent.json["key"]["scopes"] == ["admin"])
            #expect(sent.json["content"] == .null)
            let shown = try await provider.finished(sent)
            #expect(shown["name"] == "Spring")
            #expect(shown["expiresIn"] == 21_600)
            #expect(shown["expiration"] == .null)
            #expect(shown["collapseId"] == "c")
            #expect(shown["key"]["id"] == sent.json["key"]["id"])
            #expect(shown["key"]["name"].stringValue?.isEmpty == false)
            #expect(shown["content"]["payload"]["aps"]["alert"] == "Hi {{name|you}}")
            #expect(shown["content"]["localizations"]["de"]["aps"]["alert"] == "Hallo")
            #expect(shown["content"]["badgeIncrement"] == 2)
            #expect(shown["content"]["template"] == true)
            let at = Timestamp(milliseconds: try #require(shown["createdAtMs"].integerValue))
            #expect(Timestamp(rfc3339: shown["createdAt"].stringValue ?? "") == at)
            _ = try await provider.finished(try await provider.send(["to": ["all": true], "alert": "Other"]))
            for path in ["\(Self.app)/notifications", "/v1/notifications"] {
                let listed = try await provider.api.get("\(path)?name=Spring").json["notifications"].elements
                #expect(listed.map { $0["id"] } == [sent.json["id"]])
                #expect(listed.first?["content"] == .null)
                #expect(try await provider.api.get("\(path)?name=x&state=done").json["notifications"].elements == [])
            }
        }
    }

    @Test func aScheduleMayExpireRelativelyOnly() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let rule: JSONValue = ["cron": "0 9 * * *", "timeZone": "UTC"]
            func add(_ expiry: [String: JSONValue]) async throws -> JSONClient.Response {
                var notification: [String: JSONValue] = ["to": ["all": true], "alert": "Hi"]
                notification.merge(expiry) { $1 }
                let body: JSONValue = ["name": "daily", "schedule": rule, "notification": .object(notification)]
                return try await provider.api.post("\(Self.app)/schedules", body)
            }
            let added = try await add(["expiresIn": "6h"])
            #expect(added.status == 201)
            #expect(added.json["key"]["name"].stringValue?.isEmpty == false)
            #expect(try await add(["expiration": 0]).status == 201)
            for time: JSONValue in ["2099-01-01T00:00:00Z", 4_000_000_000] {
                let fault = try await add(["expiration": time])
                #expect(fault.status == 400)
                #expect(fault.field == "notification.expiration")
            }
            #expect(try await add(["expiresIn": "soon"]).field == "notification.expiresIn")
        }
    }

    @Test func notificationsAreListedByAppAndState() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            var ids: [JSONValue] = []
            for _ in 0..<3 {
                let response = try await provider.send(["to": ["all": true], "alert": "Hi"])
                _ = try await provider.finished(response)
                ids.append(response.json["id"])
            }
            let page = try await provider.api.get("\(Self.app)/notifications?limit=2&state=done").json
            #expect(page["notifications"].elements.map { $0["id"] } == [ids[2], ids[1]])
            let cursor = page["next"].stringValue ?? ""
            let rest = try await provider.api.get("/v1/notifications?limit=2&cursor=\(cursor)").json
            #expect(rest["notifications"].elements.map { $0["id"] } == [ids[0]])
            #expect(rest["next"] == .null)
            #expect(rest["notifications"].elements.first?["app"] == .string(Vectors.bundleID))
            #expect(try await provider.api.get("/v1/notifications?state=paused").json["notifications"] == [])
            #expect(try await provider.api.get("/v1/notifications?state=lost").field == "state")
            let shown = try await provider.api.get("/v1/notifications/\(ids[0].stringValue ?? "")").json
            #expect(shown["to"] == ["all": true])
            #expect(shown["recipients"] == 1)
        }
    }

    @Test func aScheduledNotificationIsPausedResumedAndCancelled() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let later = Int64(Date(timeIntervalSinceNow: 3600).timeIntervalSince1970 * 1000)
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi", "when": ["at": .integer(later)]])
            #expect(sent.json["state"] == "scheduled")
            #expect(sent.json["startsAtMs"] == .integer(later))
            let path = "/v1/notifications/\(sent.json["id"].stringValue ?? "")"
            #expect(try await provider.api.post("\(path):pause", [:]).json["state"] == "paused")
            #expect(try await provider.api.post("\(path):resume", [:]).json["state"] == "scheduled")
            #expect(try await provider.api.post("\(path):cancel", [:]).json["state"] == "cancelled")
            let late = try await provider.api.post("\(path):resume", [:])
            #expect(late.status == 409)
            #expect(late.code == "wrong_state")
            #expect(try await provider.api.post("/v1/notifications/x:pause", [:]).status == 404)
        }
    }

    @Test func deliveriesAreFilteredByState() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let response = try await provider.send(["to": ["all": true], "alert": "Hi"])
            _ = try await provider.finished(response)
            let path = "/v1/notifications/\(response.json["id"].stringValue ?? "")/deliveries"
            #expect(try await provider.api.get("\(path)?state=accepted").json["deliveries"].elements.count == 1)
            #expect(try await provider.api.get("\(path)?state=failed").json["deliveries"] == [])
            #expect(try await provider.api.get("\(path)?state=1").field == "state")
        }
    }

    private static let schedule: JSONValue = [
        "name": "daily", "schedule": ["cron": "0 9 * * *", "timeZone": "Europe/Berlin"],
        "notification": ["to": ["tag": "beta"], "alert": "Good morning"],
    ]

    @Test func aScheduleLives() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let added = try await provider.api.post("\(Self.app)/schedules", Self.schedule)
            #expect(added.status == 201)
            let path = "/v1/schedules/\(added.json["id"].stringValue ?? "")"
            #expect(try await provider.api.get(path).json == added.json)
            #expect(try await provider.api.get("\(Self.app)/schedules").json["schedules"].elements == [added.json])
            let runs = try await provider.api.get("\(path)/runs?count=3").json["runs"].elements
            #expect(runs.count == 3)
            #expect(runs.first == added.json["nextRunAtMs"])
            let preview = try await provider.api.post(
                "\(Self.app)/schedules:preview?count=3",
                ["schedule": Self.schedule["schedule"]]
            )
            #expect(preview.json["runs"].elements == runs)
            #expect(try await provider.api.post("\(path):pause", [:]).json["paused"] == true)
            #expect(try await provider.api.get("\(path)/runs").json["runs"] == [])
            #expect(try await provider.api.post("\(path):resume", [:]).json["nextRunAtMs"] == runs.first)
            #expect(try await provider.api.put(path, Self.schedule).json["name"] == "daily")
            #expect(try await provider.api.delete(path).status == 204)
            #expect(try await provider.api.get(path).code == "no_such_schedule")
        }
    }

    @Test(
        arguments: [
            ("schedule", ["cron": "nonsense", "timeZone": "Europe/Berlin"], "schedule.cron"),
            (
                "notification", ["to": ["all": true], "alert": "x", "expiration": 4_000_000_000],
                "notification.expiration"
            ),
            (
                "notification", ["to": ["all": true], "alert": "x", "when": ["at": 4_000_000_000_000]],
                "notification.when.at"
            ),
            ("notification", ["alert": "x"], "notification.to"), ("name", .null, "name"),
        ] as [(String, JSONValue, String)]
    )
    func aScheduleThatCannotRunIsRejected(member: String, value: JSONValue, field: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            guard case .object(var body) = Self.schedule else { return }
            body[member] = value
            let response = try await provider.api.post("\(Self.app)/schedules", .object(body))
            #expect(response.status == 400)
            #expect(response.field == field)
        }
    }
}
