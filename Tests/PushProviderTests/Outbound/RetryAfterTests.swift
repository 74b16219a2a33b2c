import Foundation
import PushTypes
import Testing

@testable import PushProvider

@Suite struct RetryAfterTests {
    @Test(arguments: [
        ("120", Duration.seconds(120)), ("0", .zero), ("Tue, 14 Nov 2023 22:14:20 GMT", .seconds(60)),
        ("Tue, 14 Nov 2000 22:14:20 GMT", .zero), ("4294967295", .seconds(4_294_967_295)),
    ])
    func retryAfterIsSecondsOrADate(text: String, duration: Duration) {
        #expect(RetryAfter.read(text, now: Timestamp(seconds: 1_700_000_000)) == duration)
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "99999999999999999999", String(repeating: "1", count: 10_000), "Tue"])
    func retryAfterThatIsNeitherIsNone(text: String) {
        #expect(RetryAfter.read(text, now: Timestamp(seconds: 1_700_000_000)) == nil)
        #expect(RetryAfter.read(nil, now: Timestamp(seconds: 1_700_000_000)) == nil)
    }
}
