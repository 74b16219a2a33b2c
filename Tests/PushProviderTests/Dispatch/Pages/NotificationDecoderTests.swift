import Foundation
import NIOCore
import ProviderModel
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
            delivery: request.delivery,
            pace: request.pace,
            createdAt: now
        )
    }

    @Test func everyStoredPartIsDecoded() throws {
        let body = #"{"to":{"all":true},"alert":"{{user|you}}","template":true}"#
        let decoded = NotificationDecoder().decode(try self.record(body))
        #expect(decoded.renderer?.needs == .user)
    }

    @Test func plainContentHasThePayloadOfEveryRecipient() throws {
        let decoded = NotificationDecoder().decode(try self.record(#"{"to":{"all":true},"alert":"x"}"#))
        #expect(String(buffer: decoded.base.payload) == #"{"aps":{"alert":"x"}}"#)
    }

    @Test func aNotificationIsDecodedOnce() throws {
        let decoder = NotificationDecoder()
        var record = try self.record(#"{"to":{"all":true},"alert":"{{user|you}}","template":true}"#)
        #expect(decoder.decode(record).renderer?.needs == .user)
        record.content.payload = Data("damage".utf8)
        #expect(decoder.decode(record).renderer?.needs == .user)
        #expect(NotificationDecoder().decode(record).renderer == nil)
    }
}
