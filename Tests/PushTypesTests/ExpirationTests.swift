import PushTypes
import Testing

@Suite struct ExpirationTests {
    let now = Timestamp(seconds: 1_700_000_000)

    @Test(arguments: ["soon", "", "-1", "1.5", "+3", " 5", "99999999999999999999"])
    func invalidTextIsRejected(text: String) {
        #expect(Expiration(header: text) == nil)
    }

    @Test func zeroIsNeverStored() {
        #expect(Expiration(header: "0")?.storageEnd(acceptedAt: self.now) == nil)
    }

    @Test func withoutAHeaderStorageEndsAfterThirtyDays() {
        let end = Expiration.servicePolicy.storageEnd(acceptedAt: self.now)
        #expect(end == Timestamp(seconds: 1_700_000_000 + 30 * 86_400))
    }

    @Test func aFarExpirationIsCutToThirtyDays() {
        let end = Expiration(header: "9223372036854775807")?.storageEnd(acceptedAt: self.now)
        #expect(end == Timestamp(seconds: 1_700_000_000 + 30 * 86_400))
    }

    @Test func aSmallNumberIsInThePast() throws {
        let end = try #require(Expiration(header: "300")?.storageEnd(acceptedAt: self.now))
        #expect(end < self.now)
    }
}
