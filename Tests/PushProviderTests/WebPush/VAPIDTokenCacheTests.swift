import Foundation
import ProviderModel
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushProvider

@Suite struct VAPIDTokenCacheTests {
    private let cache = VAPIDTokenCache()

    private func record() -> VAPIDKeyRecord {
        let key = VAPIDKey()
        return VAPIDKeyRecord(
            app: 1,
            publicKey: key.publicKey,
            privateKey: key.privateKey,
            contact: "mailto:ops@example.org",
            createdAt: Vectors.issuedAt
        )
    }

    @Test func aTokenIsUsedForHalfADay() throws {
        let (record, time) = (self.record(), ManualTime())
        let origin = try #require(WebOrigin("https://push.example"))
        let other = try #require(WebOrigin("https://other.example"))
        func token(_ origin: WebOrigin, _ record: VAPIDKeyRecord) throws -> String {
            try self.cache.authorization(record, for: origin, now: time.now)
        }
        let first = try token(origin, record)
        #expect(try token(other, record) != first)
        #expect(try token(origin, self.record()) != first)
        var moved = record
        moved.contact = "mailto:other@example.org"
        #expect(try token(origin, moved) != first)
        time.advance(by: .seconds(12 * 3600 - 1))
        #expect(try token(origin, record) == first)
        // It is still valid when it is used the last time.
        let credential = try #require(VAPIDCredential(authorization: first))
        try credential.check(key: record.publicKey, origin: origin, now: time.now)
        time.advance(by: .seconds(1))
        let second = try token(origin, record)
        #expect(second != first)
        time.step(by: .seconds(-3600))
        #expect(try token(origin, record) != second, "one of the future would expire too late")
    }

    @Test func aKeyThatIsNoneSignsNothing() throws {
        var record = self.record()
        record.privateKey = [1, 2, 3]
        let origin = try #require(WebOrigin("https://push.example"))
        #expect(throws: VAPIDTokenCache.Unusable.self) {
            try self.cache.authorization(record, for: origin, now: Vectors.issuedAt)
        }
    }
}
