import Foundation
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// The recipients that a notification would skip, and does skip, over a real port. It is 22:13:20 UTC.
@Suite(.timeLimit(.patience)) struct ConsentPreviewTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let night: JSONValue = ["quietHours": ["from": "22:00", "to": "07:00"]]

    private func withDevices(_ body: @escaping @Sendable (RunningProvider) async throws -> Void) async throws {
        try await withProvider(senders: ScriptedSender(), time: ManualTime()) { provider in
            try await provider.addVectorsApp()
            let devices: [[String: JSONValue]] = [
                ["preferences": ["optOuts": ["marketing"]]], ["user": "alice"], ["capabilities": ["badge"]],
                ["preferences": Self.night], ["preferences": Self.night, "timeZone": "America/New_York"],
                ["user": "bob", "timeZone": "Europe/Berlin"], [:],
            ]
            for (number, members) in devices.enumerated() {
                let response = try await provider.register(DeviceToken.numbered(number).hex, members)
                #expect(response.status == 201)
            }
            let opted: JSONValue = ["optOuts": ["marketing"]]
            #expect(try await provider.api.put("\(Self.app)/users/alice/preferences", opted).status == 200)
            #expect(try await provider.api.put("\(Self.app)/users/bob/preferences", Self.night).status == 200)
            try await body(provider)
        }
    }

    private static func preview(_ provider: RunningProvider, _ more: [String: JSONValue]) async throws -> JSONValue {
        let usual: [String: JSONValue] = ["to": ["all": true], "alert": "Hello"]
        let body = JSONValue.object(usual.merging(more) { $1 })
        return try await provider.api.post("\(Self.app)/notifications:preview", body).json
    }

    private static func counts(_ preview: JSONValue) -> [String: Int64] {
        let groups = preview["skipped"].elements.map {
            ($0["reason"].stringValue ?? "", $0["count"].integerValue ?? 0)
        }
        return Dictionary(groups) { $0 + $1 }
    }

    @Test func thePreviewSaysWhatIsSkippedAndTheLedgerAgrees() async throws {
        try await self.withDevices { provider in
            let expected: [String: Int64] = [
                "opted out of marketing": 2, "the device allows no alerts": 1, "quiet hours of the user": 2,
            ]
            let category: [String: JSONValue] = ["consentCategory": "marketing"]
            let preview = try await Self.preview(provider, category)
            #expect(preview["recipients"] == 7)
            #expect(Self.counts(preview) == expected)
            let urgent = try await Self.preview(provider, ["urgent": true])
            #expect(Self.counts(urgent) == ["the device allows no alerts": 1])
            let encrypted = try await Self.preview(provider, ["encrypted": true, "quietHours": "ignore"])
            #expect(Self.counts(encrypted) == ["the device allows no alerts": 1, "no encryption key": 6])
            // At nine in the morning of each zone nobody has quiet hours.
            let morning = try await Self.preview(provider, ["when": ["localTime": "2023-11-15T09:00"]])
            #expect(Self.counts(morning) == ["the device allows no alerts": 1])
            let sent = try await provider.send([
                "to": ["all": true], "alert": "Hello", "environment": "sandbox", "consentCategory": "marketing",
            ])
            #expect(sent.json["consentCategory"] == "marketing")
            let progress = try await provider.finished(sent)
            #expect(progress["counters"]["skipped"] == 5)
            #expect(progress["counters"]["accepted"] == 2)
            // The notification has the same numbers, without a look at each recipient.
            #expect(Self.counts(progress) == expected)
            let list = try await provider.api.get("\(Self.app)/notifications").json["notifications"].elements
            #expect(list.first?["skipped"] == .null)
            var reasons: [String: Int64] = [:]
            for delivery in try await provider.deliveries(sent) where delivery["state"] == "skipped" {
                reasons[delivery["reason"].stringValue ?? "", default: 0] += 1
            }
            #expect(reasons == expected)
        }
    }

    @Test func theCapIsInThePreview() async throws {
        try await self.withDevices { provider in
            let cap: JSONValue = ["cap": ["count": 1, "window": "1h"]]
            #expect(try await provider.api.call("PATCH", Self.app, try cap.text).status == 200)
            let request: JSONValue = ["to": ["user": "alice"], "alert": "Hello", "environment": "sandbox"]
            _ = try await provider.finished(try await provider.send(request))
            let preview = try await Self.preview(provider, ["to": ["user": "alice"]])
            #expect(Self.counts(preview) == ["cap of the user reached": 1])
            let tokens: JSONValue = ["tokens": [.string(DeviceToken.numbered(1).hex)]]
            let named = try await Self.preview(provider, ["to": tokens, "environment": "sandbox"])
            #expect(Self.counts(named) == ["cap of the user reached": 1])
            let progress = try await provider.finished(try await provider.send(request))
            #expect(progress["counters"]["skipped"] == 1)
            let urgent: JSONValue = [
                "to": ["user": "alice"], "alert": "Hello", "environment": "sandbox", "urgent": true,
            ]
            let exempt = try await provider.finished(try await provider.send(urgent))
            #expect(exempt["counters"]["accepted"] == 1)
        }
    }

    /// A named token that is not registered has no key.
    @Test func namedTokensAreInThePreview() async throws {
        try await self.withDevices { provider in
            func named(_ numbers: Int...) -> JSONValue {
                ["tokens": .array(numbers.map { .string(DeviceToken.numbered($0).hex) })]
            }
            var preview = try await Self.preview(provider, ["to": named(90), "encrypted": true])
            #expect(preview["recipients"] == 1)
            #expect(Self.counts(preview) == ["no encryption key": 1])
            #expect(try await Self.counts(Self.preview(provider, ["to": named(90)])).isEmpty)
            let members: [String: JSONValue] = [
                "to": named(0, 2, 3, 90, 91), "encrypted": true, "environment": "sandbox", "quietHours": "skip",
                "consentCategory": "marketing",
            ]
            let expected: [String: Int64] = [
                "opted out of marketing": 1, "the device allows no alerts": 1, "no encryption key": 3,
            ]
            preview = try await Self.preview(provider, members)
            #expect(Self.counts(preview) == expected)
            var request: [String: JSONValue] = ["alert": "Hello"]
            request.merge(members) { $1 }
            let progress = try await provider.finished(try await provider.send(.object(request)))
            #expect(Self.counts(progress) == expected)
        }
    }

    /// Without numbers in time the rest of the preview is as useful as before.
    @Test func aPreviewWithoutForecastHasAWarning() throws {
        let bundleID = try #require(Topic(Vectors.bundleID))
        let request = try NotificationRequest(
            parsing: JSONValue.object(["alert": "Hello", "to": ["all": true]]).text,
            bundleID: bundleID,
            now: Vectors.issuedAt
        )
        let none = ConsentForecast([]) { _ in Vectors.issuedAt }
        let cases: [(Int?, ConsentForecast?, [JSONValue])] = [
            (3, none, []), (3, nil, ["skipped"]), (nil, nil, ["recipients"]),
        ]
        for (recipients, forecast, warnings) in cases {
            let response = PreviewResponse(
                request,
                bundleID: bundleID,
                for: PreviewSubject(),
                recipients: recipients,
                forecast: forecast
            )
            let preview: JSONValue = response.json
            #expect(preview["recipients"] == (recipients == nil ? .null : 3))
            #expect(preview["payload"]["aps"]["alert"] == "Hello")
            #expect(preview["skipped"] == (forecast == nil ? .null : []))
            #expect(preview["warnings"].elements.map { $0["field"] } == warnings)
        }
    }

    /// An audience that cannot be counted in time is no error of the preview.
    @Test func anAudienceThatTakesTooLongIsAWarning() async throws {
        try await withProvider(senders: ScriptedSender(), configure: { $0.limits.query = .zero }) { provider in
            try await provider.addVectorsApp()
            for number in 1...40 {
                #expect(try await provider.register(DeviceToken.numbered(number).hex).status == 201)
            }
            let conditions: [JSONValue] = (0..<60).map { ["not": ["attribute": .string("level\($0)"), "atLeast": 3]] }
            let audience: JSONValue = ["and": .array(conditions)]
            let count = try await provider.api.post("\(Self.app)/audience:preview", ["audience": audience])
            #expect(count.json["error"]["code"] == "query_too_expensive")
            let preview = try await Self.preview(provider, ["to": audience, "consentCategory": "marketing"])
            #expect(preview["payload"]["aps"]["alert"] == "Hello")
            #expect(preview["recipients"] == .null && preview["skipped"] == .null)
            let warning = try #require(preview["warnings"].elements.first)
            #expect(warning["field"] == "recipients")
            #expect(warning["message"].stringValue?.contains("takes too long") == true)
        }
    }

    @Test func thePreviewShowsWhatAppleSeesAndWhatTheDeviceSees() async throws {
        try await self.withDevices { provider in
            let members: [String: JSONValue] = [
                "encrypted": true, "placeholder": ["title": "News"], "data": ["order": 42],
            ]
            let preview = try await Self.preview(provider, members)
            #expect(preview["payload"] == ["aps": ["alert": "Hello"], "order": 42])
            let seen = preview["encryptedPayload"]
            #expect(seen["aps"] == ["alert": ["title": "News"], "mutable-content": 1])
            #expect(seen["martlet"]["sealed"]["data"].stringValue?.isEmpty == false)
            #expect(seen["order"] == .null)
            let plain = try await Self.preview(provider, [:])
            #expect(plain["encryptedPayload"] == .null)
            let device = members.merging(["device": .string(DeviceToken.numbered(6).hex)]) { $1 }
            let without = try await Self.preview(provider, device)
            #expect(without["problem"] == "no encryption key")
            #expect(without["payload"] == .null)
        }
    }
}
