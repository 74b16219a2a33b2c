import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The member `martlet`, by which an app names a notification in its receipts.
@Suite struct PayloadMarkerTests {
    private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let member: JSONValue = ["id": .string(Self.id.uuidString), "receipts": "device"]

    private static func payload(_ body: String, badge: Int? = nil) throws -> JSONValue {
        var renderer = try ContentRenderer(try Content.parse(body).content, notification: Self.id)
        return try JSONValue(parsing: Data(try renderer.render(for: RecipientProfile(), badge: badge)))
    }

    @Test(
        arguments: [
            #"{"alert":"Hi","receipts":"device"}"#,
            #"{"alert":"Hi {{user|you}}","template":true,"receipts":"device"}"#,
            #"{"alert":"Hi","badge":"+1","receipts":"device"}"#,
            #"{"alert":"Hi","badge":"+1","data":{"a":"{{user|b}}"},"template":true,"receipts":"device"}"#,
            #"{"alert":"Hi","localizations":{"de":{"alert":"Hallo"}},"receipts":"device"}"#,
            #"{"payload":{"aps":{"alert":"Hi"}},"receipts":"device"}"#,
            #"{"payload":{},"pushType":"voip","receipts":"device"}"#,
        ]
    ) func itStandsBesideEveryPayload(body: String) throws {
        let marked = try Self.payload(body, badge: 3)
        let plain = try Self.payload(body.replacing(#","receipts":"device""#, with: ""), badge: 3)
        guard case .object(var members) = marked else { throw RenderFailure.damagedContent }
        #expect(members.removeValue(forKey: "martlet") == Self.member)
        #expect(.object(members) == plain)
    }

    @Test func itIsTheSameForAllSoThatTheyShareOnePayload() throws {
        let content = try Content.parse(#"{"alert":"Hi","receipts":"counts"}"#).content
        #expect(!content.isTemplate)
        #expect(try ContentRenderer(content).fixed != nil)
        let plain = try Content.parse(#"{"alert":"Hi"}"#).content
        #expect(try ContentRenderer(plain).fixed == plain.payload)
    }

    @Test func itCountsInTheSize() throws {
        let long = String(repeating: "x", count: 4050)
        let request = #"{"payload":{"aps":{"alert":"\#(long)"}}"#
        #expect(Content.error("\(request)}") == nil)
        #expect(Content.error(#"\#(request),"receipts":"device"}"#)?.code == "payload_too_large")
        // The app's setting gives way.
        let fields = try JSONFields(parsing: Data("\(request)}".utf8), known: NotificationContent.object.known)
        let topic = try #require(Topic("com.example.App"))
        let read = try NotificationContent.read(fields, bundleID: topic, now: nil, receipts: .device)
        #expect(read.content.receipts == .none)
        #expect(read.warnings.map(\.field) == ["receipts"])
    }

    @Test(
        arguments: [
            (#"{"alert":"Hi","receipts":"all"}"#, "invalid_value"),
            (#"{"alert":"Hi","receipts":1}"#, "wrong_type"),
            (#"{"alert":"Hi","data":{"martlet":1},"receipts":"counts"}"#, "reserved_field"),
            (#"{"mdm":{"pushMagic":"x"},"receipts":"counts"}"#, "conflicting_field"),
            (#"{"wallet":true,"receipts":"counts"}"#, "conflicting_field"),
        ]
    ) func whatCannotBeIsRejected(body: String, code: String) {
        #expect(Content.error(body)?.code == code)
    }

    @Test func withoutReceiptsTheMemberIsTheCallers() throws {
        #expect(Content.error(#"{"alert":"Hi","data":{"martlet":1},"receipts":"none"}"#) == nil)
    }
}
