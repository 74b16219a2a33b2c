import Foundation
import PushSupport
import Testing

@testable import martlet

@Suite struct NotificationProgressTextTests {
    @Test(
        arguments: [
            (
                #"{"state":"sending","recipients":100,"counters":{"accepted":40,"rejected":10,"failed":0,"retrying":2},"#
                    + #""ratePerSecond":25.4,"secondsLeft":2}"#,
                "sending; [###############...............] 50 of 100, 25/s, 0:02 left; 10 rejected; 2 retrying"
            ),
            (#"{"state":"scheduled","startsAtMs":0,"recipients":0}"#, "scheduled for 1970-01-01T00:00:00.000Z"),
            (#"{"state":"paused","pauseReason":"the \u001bbreaker","secondsLeft":9}"#, "paused, the �breaker"),
            ("{}", "unknown"),
            (
                #"{"state":"done","recipients":9223372036854775807,"counters":{"accepted":-1,"failed":9223372036854775807}}"#,
                nil
            ),
        ] as [(String, String?)]
    )
    func aNotificationIsALineOfProgress(json: String, text: String?) throws {
        let line = NotificationProgressText.of(try JSONValue(parsing: Data(json.utf8)))
        if let text { #expect(line == text) }
    }
}
