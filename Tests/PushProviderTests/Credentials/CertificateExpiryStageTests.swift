import PushTypes
import Testing

@testable import PushProvider

/// The stages at which the end of a certificate is announced.
@Suite struct CertificateExpiryStageTests {
    private let expires = Timestamp(seconds: 1_700_000_000)

    private func due(days: Int, announced: Int?, seconds: Int = 0) -> Int? {
        let now = self.expires.advanced(by: .seconds(-Int64(days) * 86_400 + Int64(seconds)))
        return CertificateExpiryStage.due(self.expires, announced: announced, now: now)
    }

    @Test func eachStageIsAnnouncedOnce() {
        #expect(self.due(days: 31, announced: nil) == nil)
        #expect(self.due(days: 30, announced: nil, seconds: -1) == nil)
        #expect(self.due(days: 30, announced: nil) == 30)
        #expect(self.due(days: 20, announced: 30) == nil)
        #expect(self.due(days: 14, announced: 30) == 14)
        #expect(self.due(days: 7, announced: 14) == 7)
        #expect(self.due(days: 1, announced: 7) == 1)
        #expect(self.due(days: 0, announced: 1) == 0)
        #expect(self.due(days: -400, announced: 0) == nil)
    }

    @Test func stagesThatWereMissedAreOne() {
        #expect(self.due(days: 3, announced: nil) == 7)
        #expect(self.due(days: -1, announced: 30) == 0)
        #expect(self.due(days: 20, announced: 7) == nil, "the clock was set back")
    }
}
