import Foundation
import NIOCore
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite struct NotificationDecoderTests {
    private func record(_ body: String) throws -> NotificationRecord {
        let bundleID = try #require(Topic(Vectors.bundleID))
        let now = Vectors.issuedAt
        let request = try NotificationRequest(parsing: Data(body.utf8), bundleID: bundleID, now: now)
        return NotificationRecord(
            id: UUID(),
            app: 1,
            content: request.content,
            audience: request.audience,
            delivery: try request.delivery?.json.text,
            pace: try request.pace?.json.text,
            createdAt: now
        )
    }

    @Test func everyStoredPartIsDecoded() throws {
        let window = #"{"window":{"from":"09:00","to":"21:00"}}"#
        let body =
            #"{"to":{"all":true},"alert":"{{user|you}}","template":true,"pace":{"rate":5},"when":"# + window + "}"
        let decoded = NotificationDecoder().decode(try self.record(body))
        #expect(decoded.pace == .rate(5))
        #expect(decoded.hours?.window?.windows.count == 1)
        #expect(decoded.renderer?.needs == .user)
    }

    @Test func plainContentHasThePayloadOfEveryRecipient() throws {
        let decoded = NotificationDecoder().decode(try self.record(#"{"to":{"all":true},"alert":"x"}"#))
        #expect(String(buffer: decoded.base.payload) == #"{"aps":{"alert":"x"}}"#)
        #expect(decoded.delivery == nil && decoded.pace == nil && decoded.hours == nil)
    }

    @Test func aNotificationIsDecodedOnce() throws {
        let decoder = NotificationDecoder()
        var record = try self.record(#"{"to":{"all":true},"alert":"x","pace":{"rate":5}}"#)
        #expect(decoder.decode(record).pace == .rate(5))
        record.pace = Data("damage".utf8)
        #expect(decoder.decode(record).pace == .rate(5))
        #expect(NotificationDecoder().decode(record).pace == nil)
    }
}
